import { PawlError } from '../error.ts'

/** A file with more than there may be. */
export class TooLarge extends PawlError {
  constructor(maxBytes: number) {
    super('invalid', `The file is larger than ${maxBytes} bytes.`)
  }
}
