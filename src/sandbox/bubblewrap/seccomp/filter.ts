import { PawlError } from '../../../domain/error.ts'
import { type ArgumentTest, type Refusal, rulesFor } from './rules.ts'
import { type Machine, machines } from './syscalls.ts'

/**
 * The program that the kernel runs before each system call made inside the walls, as bubblewrap reads it from a descriptor: classic BPF,
 * eight bytes an instruction. The kernel remembers which calls are allowed whatever their arguments, so those cost nothing.
 */
export function seccompFilter(options: { readonly nestedNamespaces: boolean; readonly arch?: string }): Buffer {
  const arch = options.arch ?? process.arch
  const machine = machines[arch]
  if (!machine) {
    throw new PawlError(
      'unsupported',
      `No filter of system calls is known for ${arch} machines, only for ${Object.keys(machines).join(' and ')}, so no walls are built here.`,
    )
  }
  return encode(program(machine, options.nestedNamespaces))
}

/** One instruction: what to do, how far to jump if a test holds and if it does not, and a value. */
export interface Instruction {
  readonly code: number
  readonly ifTrue: number
  readonly ifFalse: number
  readonly value: number
}

export const codes = {
  /** Loads the 32 bits at an offset of the call's description. */
  load: 0x20,
  and: 0x54,
  jumpIfEqual: 0x15,
  jumpIfAnyBit: 0x45,
  answer: 0x06,
} as const

/** Where the kernel's description of a call has what; the lower half of an argument comes first on the machines we know. */
export const offsets = { call: 0, audit: 4, argument: (n: number) => 16 + 8 * n } as const

const errno = { eperm: 1, enosys: 38, eafnosupport: 97 } as const satisfies Record<Refusal, number>
export const answers = { allow: 0x7fff0000, kill: 0x80000000, refuse: (why: Refusal) => 0x00050000 | errno[why] } as const

function program(machine: Machine, nestedNamespaces: boolean): Instruction[] {
  return [
    load(offsets.audit),
    // The numbers mean other calls there, so nothing below would hold. Not an error code: such a program could not even end.
    ...unless(jump(codes.jumpIfEqual, machine.audit), [answer(answers.kill)]),
    load(offsets.call),
    ...(machine.foreignBit === undefined
      ? []
      : when(jump(codes.jumpIfAnyBit, machine.foreignBit), [answer(answers.refuse('enosys'))])),
    ...rulesFor({ nestedNamespaces }).flatMap(({ call, cases = [], otherwise }) => {
      const number = machine.calls[call]
      if (number === undefined) return []
      const decided = [
        ...cases.flatMap((some) => allHold(some.when, [answer(answerFor(some.verdict))])),
        answer(answerFor(otherwise)),
      ]
      return when(jump(codes.jumpIfEqual, number), decided)
    }),
    answer(answers.allow),
  ]
}

const answerFor = (name: Refusal | 'allow') => (name === 'allow' ? answers.allow : answers.refuse(name))
const load = (offset: number): Instruction => ({ code: codes.load, ifTrue: 0, ifFalse: 0, value: offset })
const answer = (value: number): Instruction => ({ code: codes.answer, ifTrue: 0, ifFalse: 0, value })
const jump = (code: number, value: number) => ({ code, value })

/** Goes past `then` if the test does not hold. */
const when = (test: { code: number; value: number }, then: Instruction[]): Instruction[] => [
  { ...test, ifTrue: 0, ifFalse: then.length },
  ...then,
]
const unless = (test: { code: number; value: number }, then: Instruction[]): Instruction[] => [
  { ...test, ifTrue: then.length, ifFalse: 0 },
  ...then,
]

/** After a test of an argument the call's number is no longer at hand; whoever comes here decides without it. */
function allHold(tests: readonly ArgumentTest[], then: Instruction[]): Instruction[] {
  return tests.reduceRight((inner, test) => [load(offsets.argument(test.argument)), ...compared(test, inner)], then)
}

function compared(test: ArgumentTest, then: Instruction[]): Instruction[] {
  if ('anyOf' in test) return when(jump(codes.jumpIfAnyBit, test.anyOf), then)
  const equal = when(jump(codes.jumpIfEqual, test.equals), then)
  return 'mask' in test ? [{ code: codes.and, ifTrue: 0, ifFalse: 0, value: test.mask }, ...equal] : equal
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8)
  for (const [index, { code, ifTrue, ifFalse, value }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}
