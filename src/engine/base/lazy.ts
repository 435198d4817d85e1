type Asked = (...given: never[]) => Promise<unknown>

/** Loads the code of rarely called operations on the first call of one of them. */
export function lazy<Verbs extends { [Name in keyof Verbs]: Asked }>(
  names: { readonly [Name in keyof Verbs]: true },
  load: () => Promise<Verbs>,
): Verbs {
  let loading: Promise<Verbs> | undefined
  const verb =
    (name: keyof Verbs) =>
    async (...given: never[]) => {
      loading ??= load()
      const verbs = await loading
      return verbs[name](...given)
    }
  return Object.fromEntries(Object.keys(names).map((name) => [name, verb(name as keyof Verbs)])) as unknown as Verbs
}
