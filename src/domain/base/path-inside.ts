/** Is it a path below a folder, whichever that is: relative, without anything that leads up or nowhere? */
export const isInside = (path: string): boolean =>
  !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
