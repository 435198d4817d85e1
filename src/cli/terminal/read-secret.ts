import { invalid } from '../../domain/error.ts'
import type { Cli } from './cli.ts'

/** More than any secret may have: the store says what is too long, in its own words. */
const maxBytes = 1024 * 1024

/** A secret from standard input as it is, but for one newline at its end; at a terminal it is asked for, and not shown. */
export async function readSecret(cli: Cli, question: string): Promise<string> {
  if (process.stdin.isTTY) return askHidden(cli, question)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw invalid('Standard input is too long for a secret, which has at most 64 KiB.')
    chunks.push(chunk)
  }
  if (bytes === 0) throw invalid('Standard input is empty. Pipe the value: printf %s "$VALUE" | pawl secret set NAME')
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
    return text.replace(/\r?\n$/, '')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw invalid('Standard input is no text, and no variable can hold it. Store it in base64, and have the program decode it.')
  }
}

async function askHidden(cli: Cli, question: string): Promise<string> {
  if (!cli.isInteractive) throw invalid('Nobody can be asked here. Pipe the value: printf %s "$VALUE" | pawl secret set NAME')
  const { isCancel, password } = await import('@clack/prompts')
  const typed = await password({ message: `${question} (not shown)`, mask: '', output: process.stderr })
  if (isCancel(typed)) throw invalid('Nothing was stored.')
  return typed ?? ''
}
