import { jsx, jsxs } from './jsx-runtime.ts'

export type { JSX } from 'react'
export { Fragment } from 'react'

type Given = Parameters<typeof jsx>

/** The same while the page is worked on. */
export const jsxDEV = (type: Given[0], props: Given[1], key: Given[2], isStatic: boolean) =>
  (isStatic ? jsxs : jsx)(type, props, key)
