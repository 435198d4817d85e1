import type { Preset } from '../port.ts'
import { aider } from './aider.ts'
import { amp } from './amp.ts'
import { copilot } from './copilot.ts'
import { cursorAgent } from './cursor-agent.ts'
import { goose } from './goose.ts'
import { kimi } from './kimi.ts'
import { qwenCode } from './qwen-code.ts'

/** Agents that are there without configuration, each a program that an adapter is told about by data alone. */
export const presets: readonly Preset[] = [qwenCode, goose, aider, amp, cursorAgent, copilot, kimi]
