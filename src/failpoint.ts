/**
 * Named places where a test may end a process. Idle unless armed; `fp('x')` then costs one map look-up.
 * Every state move has one before its commit and one after; test/crash walks all of them.
 */
type Action = () => void | Promise<void>

const armed = new Map<string, { action: Action; skip: number }>()

export function armFailpoint(name: string, action: Action, options: { skip?: number } = {}): void {
  armed.set(name, { action, skip: options.skip ?? 0 })
}

export function fp(name: string): void | Promise<void> {
  if (armed.size === 0) return
  const point = armed.get(name)
  if (!point) return
  if (point.skip > 0) {
    point.skip--
    return
  }
  armed.delete(name)
  return point.action()
}
