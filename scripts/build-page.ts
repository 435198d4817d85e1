/** Before a start from a checkout, and before the tests: the page as its sources are now. */
import { buildPage, isPageStale } from './web-page.ts'

if (isPageStale()) {
  console.error('Building the page…')
  await buildPage()
}
