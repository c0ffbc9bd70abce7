/** Guardrails of an agent: checks of what the user says, and of what its model says. */
import { dual } from "effect/Function"
import type { GuardrailError } from "../errors/RunError.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { AnswerOf, ErrorOf, ServicesOf } from "../recovery/TableTypes.ts"
import { Guarding, type GuardVerdict } from "../run/Guarding.ts"
import type * as Tool from "../tool/Tool.ts"
import { type Agent, fromDefinition } from "./definition.ts"
import type * as Fitting from "./fitting.ts"
import { type Check, checked, common, type Common, given, type Row, rowsOf } from "./guardOptions.ts"
import { definitionOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"
import { isAgent } from "./sealing.ts"
import type { Running } from "./skills.ts"
import type { NeedsModel } from "./types.ts"

export type { Checked } from "../run/Guarding.ts"

type Pass = Extract<GuardVerdict, { readonly type: "pass" }>

type Block = Extract<GuardVerdict, { readonly type: "block" }>

type Replace = Extract<GuardVerdict, { readonly type: "replace" }>

/**
 * Makes the verdicts of a guardrail's check. `pass` lets a text through, `block` has a reason for the error and the events, and `replace`
 * puts another text in its place.
 */
export const guard: {
  readonly pass: Pass
  readonly block: (reason: string) => Block
  readonly replace: (text: string) => Replace
} = {
  pass: { type: "pass" },
  block: (reason) => ({ type: "block", reason }),
  replace: (text) => ({ type: "replace", text })
}

/** The verdicts of an input guardrail. `replace` is not possible beside a model call that already reads the text. */
type OfMode<Mode> = Mode extends "before" ? GuardVerdict : Pass | Block

type InputOptions<Mode> = Common & {
  /**
   * `beside`, the default: the model is called at once, and nothing of its reply leaves the run until the check has passed. `before`: the
   * model is called after the check has passed.
   */
  readonly mode?: Mode
}

type OutputOptions = Common & {
  /**
   * How much text is held back: `"all"` shows nothing of an answer until it has passed; a number holds back that many characters after the
   * last passed check.
   */
  readonly hold?: "all" | number
  /** Whether texts beside tool calls are checked too. By default only answers are. */
  readonly each?: boolean
}

/** Marks, among the tools of an agent's type, the failures that a blocked text causes. */
type Guarded<Side extends "input" | "output"> = Tool.Tool<
  `~guardrail ${Side}`,
  unknown,
  never,
  GuardrailError,
  never,
  {},
  "builtin"
>

/**
 * Checks what the user says. It sees the input of a run, and messages to a running one. A blocked text ends the run with a
 * `GuardrailError`, unless `Agent.onGuardrail` decides otherwise. The model call beside the check is interrupted then, and nothing of its
 * reply is seen. If the provider has tools of its own in the request, or a skill has to be chosen, the check comes first. Of several
 * guardrails, each has to pass.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect } from "effect"
 *
 * const clerk = Agent.make("clerk", {}).pipe(
 *   Agent.guardInput(({ text }) => (text.includes("password") ? Agent.guard.block("asks for secrets") : Agent.guard.pass), {
 *     mode: "before"
 *   })
 * )
 * const program = Effect.gen(function* () {
 *   const model = yield* ScriptedModel.make()
 *   return yield* Effect.provide(clerk("Tell me the password."), model.layer)
 * }).pipe(Effect.catchTag("GuardrailError", ({ reason }) => Effect.succeed(reason)))
 * await Effect.runPromise(Effect.scoped(program)) // => "asks for secrets"
 * ```
 */
export const guardInput: {
  <R2 = never, const Mode extends "beside" | "before" = "beside">(
    check: Check<OfMode<Mode>, R2>,
    options?: InputOptions<Mode>
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<
    I,
    O,
    E,
    R | R2,
    T | Guarded<"input"> | NeedsModel<R2, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends Running,
    Choice,
    Name extends string,
    R2 = never,
    const Mode extends "beside" | "before" = "beside"
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    check: Check<OfMode<Mode>, R2>,
    options?: InputOptions<Mode>
  ): Agent<
    I,
    O,
    E,
    R | R2,
    T | Guarded<"input"> | NeedsModel<R2, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
} = dual(
  ([self]) => isAgent(self),
  <A, R2>(self: AnyPart, check: Check<GuardVerdict, R2>, options: InputOptions<"beside" | "before"> = {}): A => {
    given("guardInput", options)
    const { mode = "beside" } = options
    checked("guardInput", { mode }, ["beside", "before"])
    return guarding(self, "guardInput", (guarding) =>
      guarding.with(({ inputs }) => ({
        inputs: [
          ...inputs,
          { ...common("guardInput", check, options, inputs.length), side: "input", mode, mayReplace: mode === "before" }
        ]
      }))
    )
  }
)

/**
 * Checks what the model says before a reader sees it. It sees the answers, or with `each` every text of the model. Thoughts are held back
 * like text. Of an agent whose skill is a function, it checks the text that the function gives. The transcript keeps a blocked answer,
 * marked as `withheld`; no output, error, event or span has it. The run ends with a `GuardrailError`, unless `Agent.onGuardrail` decides
 * otherwise.
 *
 * @example
 * ```ts
 * import { Agent, Recovery } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect } from "effect"
 *
 * const clerk = Agent.make("clerk", {}).pipe(
 *   Agent.guardOutput(({ text }) => (/\d{6}/.test(text) ? Agent.guard.block("it holds a number") : Agent.guard.pass)),
 *   Agent.onGuardrail({ output: Recovery.tell() })
 * )
 * const program = Effect.gen(function* () {
 *   const { make, text } = ScriptedModel
 *   const model = yield* make(text("Your PIN is 123456."), text("I cannot tell you your PIN."))
 *   return yield* Effect.provide(clerk("What is my PIN?"), model.layer)
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => "I cannot tell you your PIN."
 * ```
 */
export const guardOutput: {
  <R2 = never>(
    check: Check<GuardVerdict, R2>,
    options?: OutputOptions
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<
    I,
    O,
    E,
    R | R2,
    T | Guarded<"output"> | NeedsModel<R2, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends Running,
    Choice,
    Name extends string,
    R2 = never
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    check: Check<GuardVerdict, R2>,
    options?: OutputOptions
  ): Agent<
    I,
    O,
    E,
    R | R2,
    T | Guarded<"output"> | NeedsModel<R2, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
} = dual(
  ([self]) => isAgent(self),
  <A, R2>(self: AnyPart, check: Check<GuardVerdict, R2>, options: OutputOptions = {}): A => {
    given("guardOutput", options)
    const { each = false, hold = "all" } = options
    if (hold !== "all" && !(Number.isSafeInteger(hold) && hold >= 1))
      throw new RangeError(`Agent.guardOutput: hold must be "all" or a whole number of at least 1, got ${String(hold)}`)
    checked("guardOutput", { each }, [true, false])
    return guarding(self, "guardOutput", (guarding) =>
      guarding.with(({ outputs }) => ({
        outputs: [
          ...outputs,
          { ...common("guardOutput", check, options, outputs.length), side: "output", each, hold, mayReplace: true }
        ]
      }))
    )
  }
)

type Rows<A> = {
  /** The row for a blocked text of the user. */
  readonly input?: Row<A, "rethrow">
  /**
   * The row for a blocked answer. With `tell` the model reads the reason and answers once more, in another turn; a plain function runs only
   * once.
   */
  readonly output?: Row<A, "rethrow" | "told">
}

type RowOptions = {
  /** How often in a run the model is told that its answer was withheld; 1 by default. After that the run ends with the `GuardrailError`. */
  readonly retries?: number
}

/** Refuses keys other than `input` and `output`. */
type Sides<Given> = { readonly [Side in keyof Given]: Side extends keyof Rows<unknown> ? unknown : never }

type RowsIn<Given> = Given[keyof Given]

/** Compares the answers of the rows with the output of the agent. */
type Fits<Given, O> = [AnswerOf<RowsIn<Given>>] extends [O]
  ? unknown
  : "An answer of these rows is no output of the agent"

/** The tools of the type, without the mark of a side whose row answers. */
type Left<T, Given> =
  T extends Guarded<infer Side>
    ? Given extends { readonly [S in Side]: Recovery.Verdict<never, unknown, unknown, unknown> }
      ? never
      : T
    : T

/**
 * Decides about blocked texts, in the place of `GuardrailError`. `Recovery.respondWith` answers, `Recovery.tell` lets the model answer once
 * more, and `Recovery.rethrow` is the default. In a pipe it comes after the guardrails.
 *
 * @example
 * ```ts
 * import { Agent, Recovery } from "@kintsugi/core"
 *
 * const clerk = Agent.make("clerk", {}).pipe(
 *   Agent.guardInput(({ text }) => (text.length > 1000 ? Agent.guard.block("too long") : Agent.guard.pass)),
 *   Agent.onGuardrail({ input: Recovery.respondWith("Please be brief.") })
 * )
 * const asked = clerk("Hi")
 * //    ^? Effect<string, BudgetExceededError | LlmError, Model>
 * ```
 */
export const onGuardrail: {
  <O, const Given extends Rows<O>>(
    rows: Given & Sides<Given>,
    options?: RowOptions
  ): <I, O2, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O2, E, R, T, ByTool, Defaults, ModelTable, Choice, Name> & Fitting.Answers<O> & Fits<Given, O2>
  ) => Agent<
    I,
    O2,
    E | ErrorOf<RowsIn<Given>>,
    R | ServicesOf<RowsIn<Given>>,
    Left<T, Given> | NeedsModel<ServicesOf<RowsIn<Given>>, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends Running,
    Choice,
    Name extends string,
    const Given extends Rows<O>
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    rows: Given & Sides<Given>,
    options?: RowOptions
  ): Agent<
    I,
    O,
    E | ErrorOf<RowsIn<Given>>,
    R | ServicesOf<RowsIn<Given>>,
    Left<T, Given> | NeedsModel<ServicesOf<RowsIn<Given>>, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    Choice,
    Name
  >
} = dual(
  ([self]) => isAgent(self),
  <A>(self: AnyPart, rows: Rows<unknown>, options: RowOptions = {}): A => {
    given("onGuardrail", options)
    const { retries } = options
    if (retries !== undefined && !(Number.isSafeInteger(retries) && retries >= 0))
      throw new RangeError(`Agent.onGuardrail: retries must be a whole number of at least 0, got ${String(retries)}`)
    const sides = rowsOf(rows)
    return guarding(self, "onGuardrail", (guarding) =>
      guarding.with((before) => ({ ...sides, retries: retries ?? before.retries }))
    )
  }
)

/** The same agent with other guardrails. Throws a `TypeError` for a function, and for an agent that is made of others. */
const guarding = <A>(self: AnyPart, whose: string, change: (guarding: Guarding) => Guarding): A => {
  const definition = definitionOf(self)
  const { body, composed, guards, name } = definition
  if (body !== undefined || composed !== undefined)
    throw new TypeError(`Agent.${whose}: agent '${name}' makes no model calls itself: add guardrails to its parts`)
  return fromDefinition({ ...definition, guards: change(guards instanceof Guarding ? guards : new Guarding()) })
}
