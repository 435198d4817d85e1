/**
 * Where each of very many rows stands. The height of a row is guessed until it was seen; what stands before a row, and which row is at a place, is found in a few
 * steps, however many there are (a Fenwick tree of the heights).
 */
export class Heights {
  readonly #guess: number
  readonly #seen = new Map<number, number>()
  #keys: readonly number[] = []
  #heights = new Float64Array(0)
  #tree = new Float64Array(1)

  constructor(guess: number) {
    this.#guess = guess
  }

  get total(): number {
    return this.before(this.#keys.length)
  }

  /** Takes the rows as they are now; those that were seen keep their heights, wherever they stand. */
  take(keys: readonly number[]): void {
    if (keys === this.#keys) return
    const count = keys.length
    const heights = count <= this.#heights.length ? this.#heights : grown(this.#heights, count)
    for (let i = 0; i < count; i++) {
      const key = keys[i]!
      if (key !== this.#keys[i]) heights[i] = this.#seen.get(key) ?? this.#guess
    }
    this.#keys = keys
    this.#heights = heights
    this.#plant(count)
  }

  /** How high everything above a row is. */
  before(index: number): number {
    let sum = 0
    for (let i = index; i > 0; i -= i & -i) sum += this.#tree[i]!
    return sum
  }

  /** The row at a place; the last one for all that is below it. */
  rowAt(place: number): number {
    const count = this.#keys.length
    let index = 0
    let left = place
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, count))); step > 0; step >>= 1) {
      const next = index + step
      if (next > count || this.#tree[next]! > left) continue
      index = next
      left -= this.#tree[next]!
    }
    return Math.max(0, Math.min(index, count - 1))
  }

  /** What a row turned out to be; true if that is not what was thought. */
  see(index: number, height: number): boolean {
    const by = height - this.#heights[index]!
    this.#seen.set(this.#keys[index]!, height)
    if (Math.abs(by) < 0.1) return false
    this.#heights[index] = height
    for (let i = index + 1; i <= this.#keys.length; i += i & -i) this.#tree[i]! += by
    return true
  }

  #plant(count: number): void {
    if (this.#tree.length <= count) this.#tree = new Float64Array(this.#heights.length + 1)
    const tree = this.#tree
    for (let i = 1; i <= count; i++) tree[i] = this.#heights[i - 1]!
    for (let i = 1; i <= count; i++) {
      const above = i + (i & -i)
      if (above <= count) tree[above]! += tree[i]!
    }
  }
}

/** With room to spare, so that what grows row by row is not copied each time. */
function grown(heights: Float64Array<ArrayBuffer>, count: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.ceil(count * 1.5))
  larger.set(heights)
  return larger
}
