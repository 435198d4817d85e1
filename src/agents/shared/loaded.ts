/** A module that is loaded when it is first needed, and once: to ask the loader again takes longer than a short turn does its work. */
export function loaded<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
}
