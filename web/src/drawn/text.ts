import { isolated, replaceHidden, visible } from '../../../src/domain/base/visible.ts'

/** A text as the page draws it where no element can be: in a title, a label, a notification. */
export const drawnText = (text: string) => isolated(visible(text))

/** A name for a file that a browser saves: it cannot seem to end otherwise than it does. */
export const drawnFileName = (name: string) => replaceHidden(name, () => '_')
