/** The options of guardrails, as they are checked where a program gives them. */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { demand } from "../data/Demand.ts"
import type { GuardrailError } from "../errors/RunError.ts"
import type { Node } from "../recovery/Node.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type { Checked, OutputGuard } from "../run/Guarding.ts"
import type { AnyPart } from "./partTypes.ts"

export type Check<V, R> = (checked: Checked) => V | Effect.Effect<V, unknown, R>

export type Common = {
  /** The name of the guardrail in events and errors; by default that of the function. */
  readonly name?: string
  /** The time limit of a check, 30 seconds by default. A check that takes longer has failed. */
  readonly timeout?: Duration.Input
  /** The agent that the check calls, if it calls one: `explain` counts its model calls. */
  readonly agent?: AnyPart
  /** What counts as the verdict of a check that fails, dies or is late; `"block"` by default. */
  readonly onFailure?: "block" | "pass"
}

/** Throws a `TypeError` if the value is no object of known options. */
export const given = (whose: string, options: unknown): void =>
  demand(`Agent.${whose}`, "given options", options, Predicate.isObject(options))

/** Throws a `TypeError` if the option has a value that is not in the list. */
export const checked = (whose: string, option: object, values: ReadonlyArray<string | boolean>): void => {
  for (const [name, given] of Object.entries(option)) {
    if (values.includes(given)) continue
    const allowed = values.map((value) => JSON.stringify(value)).join(" or ")
    throw new TypeError(`Agent.${whose}: ${name} must be ${allowed}, got ${String(given)}`)
  }
}

/** The options that input and output guardrails share. */
export const common = (
  whose: string,
  check: Check<unknown, unknown>,
  { agent, name, onFailure = "block", timeout = "30 seconds" }: Common,
  before: number
): Pick<OutputGuard, "name" | "check" | "timeout" | "onFailure" | "agent"> => {
  if (!Predicate.isFunction(check)) throw new TypeError(`Agent.${whose}: check must be a function`)
  checked(whose, { onFailure }, ["block", "pass"])
  const given = Option.getOrElse(Duration.fromInput(timeout), () => Duration.zero)
  if (!(Duration.toMillis(given) > 0))
    throw new RangeError(`Agent.${whose}: timeout must be a duration above 0, got ${String(timeout)}`)
  const called = name ?? check.name
  return {
    name: called === "" ? `${whose} ${before + 1}` : called,
    // its needs are in the agent's type
    check: check as OutputGuard["check"],
    timeout: given,
    onFailure,
    ...(agent === undefined ? {} : { agent })
  }
}

/** A verdict about a blocked text that answers `A`. */
export type Row<A, End> = Recovery.Verdict<GuardrailError, A, unknown, unknown, End>

type Side = "input" | "output"

type DecidedNode = Extract<Node, { readonly kind: "respondWith" | "rethrow" | "tell" }>

type Decided = { readonly onInput?: DecidedNode; readonly onOutput?: DecidedNode }

/** The rows for blocked inputs and outputs, where given. Throws a `TypeError` on another key. */
export const rowsOf = (rows: { readonly [S in Side]?: Row<unknown, unknown> }): Decided => {
  demand("Agent.onGuardrail", "given rows", rows, Predicate.isObject(rows))
  const other = Object.keys(rows).find((side) => side !== "input" && side !== "output")
  if (other !== undefined)
    throw new TypeError(`Agent.onGuardrail: there is no side '${other}': its rows are input, output`)
  const { input, output } = rows
  return {
    ...(input === undefined ? {} : { onInput: rowOf(input, "input") }),
    ...(output === undefined ? {} : { onOutput: rowOf(output, "output") })
  }
}

const rowOf = (row: Row<unknown, unknown>, side: Side): DecidedNode => {
  const node = Recovery.rowsOf({ [side]: row }).get(side)
  if (node?.kind === "respondWith" || node?.kind === "rethrow" || (node?.kind === "tell" && side === "output"))
    return node
  const allowed = side === "output" ? "respondWith, rethrow, tell" : "respondWith, rethrow"
  throw new TypeError(`Agent.onGuardrail: row '${side}': a verdict that is not allowed there; allowed: ${allowed}`)
}
