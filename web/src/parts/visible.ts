/**
 * Text that somebody decides about, word for word: signs that are not seen, or that turn the direction of writing so that something else is read than
 * what would be done, are written out. Tabs and new lines stay.
 */
export const visible = (text: string) =>
  text.replace(hidden, (sign) => `<U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`)

const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu
