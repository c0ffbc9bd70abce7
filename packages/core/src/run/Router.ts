/**
 * Chooses among the skills of an agent. The choice is made by a rule or by a call of the agent's model, once at the start of a run, and
 * only if there are several skills.
 */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Coercion from "../coercion/Coercion.ts"
import type { LlmError } from "../errors/LlmError.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import type * as Model from "../model/Model.ts"
import { RoutingError } from "../errors/RunError.ts"
import * as LlmTable from "../model/LlmTable.ts"
import { type Candidate, type Choice, type Definition, none, type Routing, type Wide } from "./Routing.ts"

import * as Interception from "../model/Interception.ts"
import * as ModelCall from "./modelCall.ts"
import type { Present, ServicesOf as RecoveryServicesOf, RowsOf, Residue } from "../recovery/TableTypes.ts"

const TypeId: unique symbol = Symbol.for("~@kintsugi/core/Router")

/**
 * A router. `Said` is the result of its rule: names of skills, or `undefined` if the model has to choose. `E` and `R` are the failures and
 * needs of the rule, `Table` the rows for model failures so far.
 *
 * @hidden
 */
export interface Router<
  out Said extends string | undefined,
  out E = never,
  out R = never,
  out Table = {}
> extends Pipeable {
  readonly [TypeId]: {
    readonly _Said: () => Said
    readonly _E: () => E
    readonly _R: () => R
    readonly _Table: () => Table
  }
  readonly definition: Definition
}

type AnyRouter = Router<string | undefined, unknown, unknown, unknown>

/**
 * The failures that a router adds to a run, those of the model behind its own table included.
 *
 * @hidden
 */
export type RouterError<Said, E, Table> =
  | E
  | (undefined extends Said ? RoutingError | Left<Table> : Wide<Said> extends never ? never : RoutingError)

type Left<Table> = Table extends unknown ? ([keyof Table] extends [never] ? LlmError : Residue<LlmError, Table>) : never

/**
 * The services of a router, without its model.
 *
 * @hidden
 */
export type RouterServices<Said, R, Table> = R | (undefined extends Said ? RecoveryServicesOf<RowsOf<Table>> : never)

/** How the model is called if no rule has chosen. */
interface Options {
  /** The least confidence, from 0 to 1, with which a choice counts; 0.6 by default. */
  readonly threshold?: number
  /** The prompt before the list of skills. */
  readonly prompt?: string
}

/** Options of routers by their names in other libraries. */
interface Elsewhere {
  readonly instructions: "its name here is prompt"
  readonly system: "its name here is prompt"
  readonly systemPrompt: "its name here is prompt"
  readonly minConfidence: "its name here is threshold"
  readonly confidence: "its name here is threshold"
  readonly model: "a router calls the model of its agent"
  readonly retries: "retries are rows of a table: Router.onLlmError"
  readonly maxRetries: "retries are rows of a table: Router.onLlmError"
}

/**
 * Chooses a skill by one model call. The model reads the names and descriptions of the skills, and answers with a name and a confidence. An
 * agent with several skills and no router of its own has this one.
 */
export const byModel = <Given = {}>(options?: Present<Given, keyof Options, Elsewhere> & Options): Router<undefined> =>
  fromDefinition({ ...withDefaults(options), rule: undefined })

/**
 * Chooses a skill by a rule, a plain function or an effect. If the rule gives `undefined`, the model chooses, with these options. A rule
 * that always gives a name leaves no `RoutingError`, if its type has the names; an effect needs `as const` for that. Failures of the rule
 * are failures of the agent.
 */
export const byRule = <const Said extends string | undefined, E = never, R = never, Named = {}>(
  rule: (input: string) => Said | Effect.Effect<Said, E, R>,
  options?: Present<Named, keyof Options, Elsewhere> & Options
): Router<Given<Said>, E, R> =>
  fromDefinition({
    ...withDefaults(options),
    rule: (input) =>
      // its needs are in the agent's type
      Effect.suspend(() =>
        Returned.valueOf(rule(input) as Said | Effect.Effect<Said, E>, aName, "The rule of the router")
      )
  })

/** `T`, without inference from the expected type: TypeScript 5.9 would forget the names. */
type Given<T> = [T][T extends unknown ? 0 : never]

const aName: Returned.Kind = {
  name: "a string, undefined",
  is: (value) => value === undefined || Predicate.isString(value)
}

/**
 * Recovers from failures of the routing call. An answer of a row is the name of a skill. The table of the agent does not handle these
 * failures, because its answers are outputs.
 */
export const onLlmError: {
  <const Name extends string, const Given extends LlmTable.LlmRows<Name> | LlmTable.LlmHandler<Name>>(
    given: Given & LlmTable.CheckRows<Given>,
    options?: LlmTable.TableOptions
  ): <Said extends string | undefined, E, R, Old>(
    self: Router<Said, E, R, Old>
  ) => Router<Said, E, R, LlmTable.After<Old, Given>>
  <
    Said extends string | undefined,
    E,
    R,
    Old,
    const Name extends string,
    const Given extends LlmTable.LlmRows<Name> | LlmTable.LlmHandler<Name>
  >(
    self: Router<Said, E, R, Old>,
    given: Given & LlmTable.CheckRows<Given>,
    options?: LlmTable.TableOptions
  ): Router<Said, E, R, LlmTable.After<Old, Given>>
} = dual(
  ([self]) => Predicate.hasProperty(self, TypeId),
  <A extends AnyRouter>(
    { definition }: AnyRouter,
    given: LlmTable.LlmRows<unknown> | LlmTable.LlmHandler<unknown>,
    options?: LlmTable.TableOptions
  ): A =>
    fromDefinition({
      ...definition,
      rows: LlmTable.rowsAfter(definition.rows, given, options),
      transport: options?.transport ?? definition.transport
    })
)

const defaultPrompt = "Choose the skill that fits what the user asks for. Do not answer the user."

const withDefaults = ({ prompt = defaultPrompt, threshold = 0.6 }: Options = {}) => {
  if (!(threshold >= 0 && threshold <= 1)) {
    throw new RangeError(`Router: threshold must be a number from 0 to 1, got ${threshold}`)
  }
  return { prompt, threshold, rows: new Map() } satisfies Partial<Definition>
}

// a router's type parameters are carried by its type alone
function fromDefinition<Self extends AnyRouter>(definition: Definition): Self {
  const carried = { _Said: absurd, _E: absurd, _R: absurd, _Table: absurd }
  return { [TypeId]: carried, definition, pipe } as unknown as Self
}

function pipe(this: unknown) {
  return pipeArguments(this, arguments)
}

function absurd(): never {
  throw new TypeError("Router: `_Said`, `_E`, `_R` and `_Table` exist for types only")
}

/**
 * The choice of the rule; `undefined` if the model has to choose.
 *
 * @internal
 */
export const rule = ({ rule: ask }: Definition, routing: Routing): Effect.Effect<Choice | undefined, unknown> =>
  ask === undefined
    ? Effect.undefined
    : Effect.flatMap(
        Interception.step(
          () => ({ type: "choice", about: "route" }),
          () => ask(routing.input)
        ),
        (skill) => (skill === undefined ? Effect.undefined : checked({ skill, by: "rule" }, skill, routing))
      )

/**
 * Asks the model; the reply is never shown as text of the run.
 *
 * @internal
 */
export const ask = (self: Definition, model: Model.Service, routing: Routing): Effect.Effect<Choice, unknown> => {
  const { candidates, input, run } = routing
  const messages = [Message.system(instructions(self.prompt, candidates)), Message.user(input)]
  const request: Model.Request = { messages, tools: [], toolChoice: "auto" }
  const guard = {
    rows: self.rows,
    transport: self.transport,
    onPartial: "fail",
    isStreamed: false,
    purpose: "routing"
  } as const
  return ModelCall.ask({ model, request, run, ...guard }, (answer) => {
    if (answer.type === "answered") {
      const skill = String(answer.value)
      return checked({ skill, by: "table" }, skill, routing)
    }
    const text = Message.textOf(answer.reply)
    const read = Result.flatMap(Coercion.parse(text), (parsed) => Coercion.decode(parsed, decode, Coercion.answerSteps))
    if (Result.isFailure(read)) return refused(text, routing)
    const { confidence, name: skill } = read.success.decoded
    return confidence < self.threshold
      ? refused(text, routing)
      : checked({ skill, by: "model", confidence }, text, routing)
  })
}

const instructions = (prompt: string, candidates: ReadonlyArray<Candidate>): string =>
  [
    prompt,
    "",
    "The skills:",
    ...candidates.map(({ description, name }) => `- ${JSON.stringify(name)}: ${description}`),
    "",
    `Answer with JSON and nothing else: {"name": "<name of the skill>", "confidence": <number from 0 to 1>}.`,
    `The name is "${none}" when no skill fits.`
  ].join("\n")

const Answer = Schema.Struct({
  name: Schema.String,
  confidence: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
})

const decode = (value: Schema.Json) => Result.mapError(Schema.decodeUnknownResult(Answer)(value), ({ issue }) => issue)

/** Fails if the chosen name is not a candidate. */
const checked = (choice: Choice, answer: string, routing: Routing): Effect.Effect<Choice, RoutingError> =>
  routing.candidates.some(({ name }) => name === choice.skill) ? Effect.succeed(choice) : refused(answer, routing)

const refused = (answer: string, { candidates, run, transcript }: Routing): Effect.Effect<never, RoutingError> =>
  Effect.suspend(() => {
    const names = candidates.map(({ name }) => name)
    const common = { transcript: transcript(), usage: run.ledger.usage }
    return Effect.fail(RoutingError.make({ agent: run.agent, candidates: names, answer, ...common }))
  })
