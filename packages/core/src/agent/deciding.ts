/** Decisions for an agent: which skill it takes, whether a run goes on at a limit, whether a call may run. */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Budget from "../budget/Budget.ts"
import { aFunction } from "../data/Demand.ts"
import * as Returned from "../data/Returned.ts"
import type * as Usage from "../data/Usage.ts"
import type { BudgetReason } from "../errors/Limit.ts"
import { answering } from "../run/Answering.ts"
import * as Render from "../recovery/Render.ts"
import type * as Router from "../run/Router.ts"
import type { RouterName } from "../run/Routing.ts"
import type * as Tool from "../tool/Tool.ts"
import * as ToolPolicy from "../tool/ToolPolicy.ts"
import { type Agent, fromDefinition } from "./definition.ts"
import { isAgent } from "./sealing.ts"
import { definitionOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"
import type { Choosing, Routed, Running } from "./skills.ts"
import type { NeedsModel } from "./types.ts"

/**
 * Chooses a skill of an agent by a router. Without it, `Router.byModel()` chooses. A router that may name a skill which the agent does not
 * have does not compile.
 */
export const route: {
  <const Said extends string | undefined, E2, R2, Table>(
    router: Router.Router<Said, E2, R2, Table>
  ): <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable,
    Choice extends Chooses<RouterName<Said, Table>>,
    Name extends string
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<
    I,
    O,
    E,
    R,
    T | NeedsModel<Router.RouterServices<Said, R2, Table>, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    RoutedBy<Choice, Said, E2, R2, Table>,
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
    ModelTable,
    Choice extends Chooses<RouterName<Said, Table>>,
    Name extends string,
    const Said extends string | undefined,
    E2,
    R2,
    Table
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    router: Router.Router<Said, E2, R2, Table>
  ): Agent<
    I,
    O,
    E,
    R,
    T | NeedsModel<Router.RouterServices<Said, R2, Table>, ModelTable>,
    ByTool,
    Defaults,
    ModelTable,
    RoutedBy<Choice, Said, E2, R2, Table>,
    Name
  >
} = dual(2, (self: AnyPart, router: Router.Router<string | undefined, unknown, unknown, unknown>) =>
  fromDefinition({ ...definitionOf(self), router: router.definition })
)

type RoutedBy<Choice, Said extends string | undefined, E, R, Table> = Routed<
  Choice,
  Said,
  Router.RouterError<Said, E, Table>,
  Router.RouterServices<Said, R, Table>
>

/** An agent with several skills, whose names include those of the router. */
type Chooses<Name extends string> = Choosing<Name, unknown, unknown, unknown>

/** A limit of the agent's budget that its run or a descendant reached. */
export interface BudgetExceeded {
  readonly agent: string
  readonly reason: BudgetReason
  /** The spent amount, in the unit of the limit: turns, calls, tokens, US dollars or milliseconds. */
  readonly limit: number
  readonly spent: number
  readonly usage: Usage.Usage
}

/**
 * Decides what happens at a limit of the budget. The decisions are `Budget.stop`, the default, `Budget.extend`, `Budget.checkpoint` and
 * `Budget.answer`. The function is called for turns, tool calls, tokens, cost, duration, repeated failures, and calls while tools are off,
 * each time that the limit is reached. A running model or tool goes on meanwhile. No table handles an exceeded limit.
 *
 * `reserve` keeps tokens for the answer: before a turn, the limit of tokens or cost counts as reached if the input of the last reply and
 * these output tokens would pass it. Without it, the answer may pass the limit by one reply.
 */
export const onBudgetExceeded: {
  <R2 = never>(
    decide: Decide<R2>,
    options?: AtLimit
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
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
    decide: Decide<R2>,
    options?: AtLimit
  ): Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
} = dual(
  ([self]) => isAgent(self),
  <A, R2>(self: AnyPart, decide: Decide<R2>, { reserve }: AtLimit = {}): A => {
    const definition = definitionOf(self)
    aFunction(`Agent '${definition.name}': what decides in Agent.onBudgetExceeded`, decide)
    if (reserve !== undefined) check(reserve.outputTokens)
    return fromDefinition({
      ...definition,
      around: { loop: answering(reserve), says: Render.lastTurn },
      onExceeded: ({ limit, meter, reason, spent }) =>
        Effect.suspend(() => {
          const exceeded = { agent: definition.name, reason, limit, spent, usage: meter.ledger.usage }
          // its needs are in the agent's type
          const decision = decide(exceeded) as Budget.LimitAction | Effect.Effect<Budget.LimitAction>
          return Returned.valueOf(decision, aDecision, decides, definition.name)
        })
    })
  }
)

const check = (outputTokens: number): void => {
  if (Number.isSafeInteger(outputTokens) && outputTokens >= 1) return
  throw new RangeError(
    `Agent.onBudgetExceeded: reserve.outputTokens must be a whole number of at least 1, got ${String(outputTokens)}`
  )
}

type AtLimit = { readonly reserve?: { readonly outputTokens: number } | undefined }

type Decide<R> = (exceeded: BudgetExceeded) => Budget.LimitAction | Effect.Effect<Budget.LimitAction, never, R>

const decides = "The function of Agent.onBudgetExceeded of agent"

const aDecision = Returned.decision(["stop", "extend", "checkpoint", "answer"])

/**
 * Allows or denies the tool calls of this agent. The policy decides once the arguments fit, before the tool runs, and once more after each
 * repair. A denied call does not run; the model reads the reason. A policy that fails denies. Of several policies, each has to allow.
 */
export const toolPolicy: {
  <R2 = never>(
    policy: ToolPolicy.Policy<R2>
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends object, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends object,
    Choice,
    Name extends string,
    R2 = never
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    policy: ToolPolicy.Policy<R2>
  ): Agent<I, O, E, R | R2, T | NeedsModel<R2, ModelTable>, ByTool, Defaults, ModelTable, Choice, Name>
} = dual(2, <A, R2>(self: AnyPart, policy: ToolPolicy.Policy<R2>): A => {
  const definition = definitionOf(self)
  aFunction(`Agent '${definition.name}': the policy of Agent.toolPolicy`, policy)
  // its needs are in the agent's type
  const all = [...(definition.policies?.all ?? []), policy as ToolPolicy.Policy]
  return fromDefinition({ ...definition, policies: { all, denies: ToolPolicy.denying(all) } })
})
