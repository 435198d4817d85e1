/** Blocks of three signs, by which a search tells how far it may move. */
export const blockLength = 3
export const tableSize = 1 << 16

/** The table's place for three signs; different ones may share it, which costs a look and never a miss. All bits of the signs have a say: texts are alike in many. */
const slot = (first: number, second: number, third: number) => spread(first | (second << 8) | (third << 16))
const spread = (signs: number) => Math.imul(signs << 8, 0x9e3779b1) >>> 16
export const slotAt = (text: string, at: number) => slot(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2))
export const slotOf = (bytes: Uint8Array, at: number) => slot(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)

/**
 * Where the window comes to stand next, or a place beyond the end. The widest shift is by far the most frequent, and asked for by itself: so the processor
 * goes on before the table has answered, instead of waiting for it at each step.
 */
export function nextCandidate(text: string, from: number, shifts: Uint8Array, widestShift: number): number {
  const last = text.length - blockLength
  let at = from
  while (at <= last) {
    const shift = shifts[slotAt(text, at)]!
    if (shift === widestShift) at += widestShift
    else if (shift === 0) return at
    else at += shift
  }
  return at
}

/**
 * The same of bytes, each read as one sign, and of windows that begin as a pattern does. Apart, because a loop that meets both is slow for both. Nearly always the
 * window moves by the widest shift again and again: four such moves are one step, and four bytes are read at once, of which three count.
 */
export function nextCandidateOf(
  bytes: Uint8Array,
  from: number,
  shifts: Uint8Array,
  isBeginning: Uint8Array,
  window: number,
): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const last = bytes.length - blockLength
  const widest = window - blockLength + 1
  const lastOfFour = last - 3 * widest
  let at = from
  for (;;) {
    while (
      at < lastOfFour &&
      shifts[spread(view.getUint32(at, true))] === widest &&
      shifts[spread(view.getUint32(at + widest, true))] === widest &&
      shifts[spread(view.getUint32(at + 2 * widest, true))] === widest &&
      shifts[spread(view.getUint32(at + 3 * widest, true))] === widest
    )
      at += 4 * widest
    if (at >= last) return at === last ? at + shifts[slotOf(bytes, at)]! : at
    const shift = shifts[spread(view.getUint32(at, true))]!
    if (shift !== 0) at += shift
    else if (isBeginning[spread(view.getUint32(at - widest + 1, true))] === 1) return at
    else at++
  }
}

/** Where a pattern may begin next, or a place beyond the end. */
export function nextBeginning(text: string, from: number, isBeginning: Uint8Array): number {
  const last = text.length - blockLength
  let at = from
  while (at <= last && isBeginning[slotAt(text, at)] === 0) at++
  return at
}
