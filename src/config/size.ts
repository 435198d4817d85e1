import { z } from 'zod'

const unitMb = { k: 1 / 1024, m: 1, g: 1024, t: 1024 * 1024 } as const
const pattern = /^\d+(\.\d+)?\s*([kmgt])(i?b)?$/i
const expected = 'must be a size such as 512m, 4g or 1.5g (a bare number means megabytes)'

/** Megabytes of "512m", "4g", "1.5G", "2 GiB", or a bare number of them, at least one; undefined if it is none of these. */
export function parseSize(written: string | number): number | undefined {
  const text = String(written).trim()
  const amount = Number.parseFloat(text)
  if (/^\d+(\.\d+)?$/.test(text)) return Math.max(1, Math.round(amount))
  const unit = pattern.exec(text)?.[2]?.toLowerCase() as keyof typeof unitMb | undefined
  return unit === undefined ? undefined : Math.max(1, Math.round(amount * unitMb[unit]))
}

const mostMb = 1024 * 1024 * 1024

/** A size, in megabytes. */
export const Size = z.union([z.number({ error: expected }), z.string()], { error: expected }).transform((written, context) => {
  const mb = parseSize(written)
  if (mb === undefined || mb > mostMb || Number.parseFloat(String(written)) === 0)
    context.addIssue({ code: 'custom', message: mb !== undefined && mb > mostMb ? 'must be at most 1024t' : expected })
  return mb ?? 1
})
