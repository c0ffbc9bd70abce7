/** What a scenario is: a task, and the one thing that goes wrong in it. */
import type { LlmError, Message } from "@kintsugi/core"
import type { Schema } from "effect"

export type JsonObject = Schema.JsonObject

/** A call, as it should be made. */
export interface Call {
  readonly tool: string
  readonly arguments: JsonObject
}

/** What goes wrong. All faults but those of tools happen between the model and the run, to what the model has sent. */
export type Fault =
  /** The first call of the tool arrives damaged. */
  | {
      readonly at: "call"
      readonly damage: (sent: JsonObject) => {
        readonly tool?: string
        readonly arguments: Message.ToolCall["arguments"]
      }
      /**
       * Whether what was meant can be read off the damaged call and its error. Of one where it cannot, only who knows what was
       * asked can tell.
       */
      readonly isReadable: boolean
      /** A guess of a model that does not know it. */
      readonly guess?: JsonObject
    }
  /** The first final texts arrive changed: one, or as many as it says. */
  | { readonly at: "answer"; readonly times?: number; readonly damage: (text: string) => string }
  /** The model fails, so many times. */
  | { readonly at: "model"; readonly times: number; readonly error: (model: string) => LlmError.LlmError }
  /** The model takes no conversation that is longer than so many characters of JSON. */
  | { readonly at: "window"; readonly characters: number }
  /** The tool fails, so many times. */
  | { readonly at: "tool"; readonly times: number; readonly does: Failing }

/** How a tool fails: by itself, or with what it reaches over the network. */
export type Failing = "busy" | "gone" | "hangs" | "refused" | "lost" | "unavailable" | "lost-after-work"

/** What goes wrong, as a kind. */
export const classes = ["arguments", "tools", "network", "model", "output", "fixer"] as const

export type Class = (typeof classes)[number]

/** A task with its fault. */
export interface Scenario {
  readonly name: string
  readonly of: Class
  /** What goes wrong, in a few words. */
  readonly says: string
  /** What the user asks for. */
  readonly asked: string
  /** The call that does it. */
  readonly first: Call
  /** The call that does it where the fault makes the first one useless. */
  readonly instead?: Call
  /** The call that shows whether the work was done: one who is told that it may have been looks there. */
  readonly check?: Call
  /** What the tools say of a second run; `idempotent` by default. */
  readonly sideEffects?: "idempotent" | "undeclared"
  readonly fault: Fault
  /** A text that names one of these tells what is wrong. */
  readonly names: ReadonlyArray<string>
  /** What the tool's own fixer does, where it has one: every policy stands behind it. */
  readonly fixer?: "escalates" | "breaks"
  /** The fault is mended before any policy is asked. */
  readonly isMendedAnyhow?: true
  /** Whether the answer has to be the reference and nothing else. */
  readonly isReferenceDemanded?: true
}
