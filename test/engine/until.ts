/** Waits until a condition holds, looking often. For facts outside the journal, such as a file or a process. */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > deadline) throw new Error(`the awaited condition did not hold within ${timeoutMs} ms: ${look}`)
    await new Promise((again) => setTimeout(again, 10))
  }
}
