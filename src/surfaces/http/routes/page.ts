import type { App, Parts } from '../app.ts'
import { addPage } from '../needs.ts'
import { page as plainPage, plainStyle } from '../page.ts'
import { sendPageFile } from '../send-page-file.ts'

/** The page itself. It is nobody's secret: what it shows, it asks for with the sign-in of its browser. */
export function pageRoutes(app: App, { page }: Parts): void {
  addPage(app, '/plain.css', (c) => c.body(plainStyle, 200, { 'Content-Type': 'text/css; charset=utf-8' }))
  if (!page) {
    addPage(app, '/', (c) =>
      plainPage(c, 200, { text: 'Pawl runs. Its page was not built: run "npm run build" in the checkout and start it again.' }),
    )
    return
  }
  const { shell, files, screens } = page
  for (const path of screens) addPage(app, path.replaceAll('$', ':'), (c) => sendPageFile(c, shell))
  for (const [path, file] of files) addPage(app, path, (c) => sendPageFile(c, file))
}
