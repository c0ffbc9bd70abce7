/** Random agents and what goes wrong in their runs, as plain data: what a seed draws, and what is printed when it is needed. */
import type { Agent, Budget } from "@kintsugi/core"
import { FailureScript, type ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import * as Arbitraries from "../../../packages/core/src/testing/Arbitraries.ts"

export type SideEffects = "none" | "idempotent" | "unsafe" | "undeclared"

/** What a table does about a failure. Times are milliseconds. */
export type Row =
  | { readonly kind: "tell" | "answer" | "escalate" | "raise" | "rethrow" | "tools-off" }
  | { readonly kind: "retry"; readonly retries: number; readonly wait: number }
  /** By a function, or by the agent `mender`. */
  | { readonly kind: "fix"; readonly by: "function" | "agent"; readonly as: "arguments" | "result" }
  | { readonly kind: "ladder"; readonly rungs: ReadonlyArray<Row> }

export type Tag = "Busy" | "Gone"

export interface ToolData {
  readonly name: string
  readonly sideEffects: SideEffects
  readonly timeout?: number
  readonly callTimeout?: number
  /** What is said when a run was cut off. */
  readonly verify?: "took effect" | "took none" | "fails"
  readonly needsApproval: boolean
  /** What its n-th attempt of a call does. */
  readonly script: FailureScript.FailureScript<Tag>
  readonly rows: { readonly [K in Tag | "InvalidArgs" | "orElse"]?: Row }
}

export type ModelRow =
  | { readonly kind: "retry"; readonly retries: number; readonly wait: number }
  | { readonly kind: "compact"; readonly by: "dropOldest" | "shrinkLargestResult" | "summarise" }

export type ModelFailure = "overloaded" | "limited" | "too long" | "lost" | "unauthorised" | "server"

export interface CallData {
  readonly id: string
  readonly tool: string
  readonly arguments: string | { readonly n: number | string }
}

/** What the model says in one turn, after some failures. */
export type LineData = ScriptedModel.ModelTurn<CallData, ModelFailure>

export interface AgentData {
  readonly name: string
  readonly tools: ReadonlyArray<ToolData>
  /** An agent that is a tool of this one, called `ask`. */
  readonly child?: AgentData
  readonly lines: ReadonlyArray<LineData>
  readonly limits: Budget.Limits
  readonly siblings: NonNullable<Parameters<typeof Agent.make>[1]["siblings"]>
  readonly defaults: { readonly [K in "InvalidArgs" | "UnknownToolError" | "orElse"]?: Row }
  readonly models: { readonly ContextTooLongError?: ModelRow; readonly orElse?: ModelRow }
  readonly onPartial: "fail" | "restart"
  /** A tool that its policy denies. */
  readonly denied?: string
  readonly onBudget: "stop" | "extend" | "checkpoint" | "answer"
  /** How long its listener takes for each event. */
  readonly listens?: number
  readonly wantsNumber: boolean
}

export type Approving = "approve" | "refuse" | "change" | "never"

export type Shape = "alone" | "andThen" | "parallel" | "firstOf" | "speculative" | "fallback" | "loopUntil"

export interface FaultData {
  readonly mode: "whole" | "streamed"
  /** Which of the steps of that run without a fault: from 0 for the first up to 1. */
  readonly at: number
  /** What goes wrong there, or what is nearest to it of all that can. */
  readonly kind: "error" | "defect" | "latency" | "before" | "within" | "after"
}

export interface Scenario {
  readonly seed: number
  readonly agent: AgentData
  readonly other: AgentData
  readonly shape: Shape
  readonly approving: Approving
  /** How many models are asked in turn, and how often each but the last one fails for good. */
  readonly models: { readonly before: number; readonly failing: ModelFailure }
  readonly faults: ReadonlyArray<FaultData>
}

/** What a seed draws. */
export const scenarioOf = (seed: number, faults = 6): Scenario => {
  const [drawn] = Effect.runSync(Arbitrary.sampleEffect(scenario(faults), { count: 1, seed, size }))
  if (drawn === undefined) throw new Error(`seed ${seed} draws nothing`)
  return { seed, ...drawn }
}

/** Large enough that no part of a scenario is small because another one is large. */
const size = 1000

const { constantFrom, given, integer, oneOf, orAbsent } = Arbitraries

/** What is drawn in one of so many cases. */
const onceIn = <A>(cases: number, member: Arbitrary.Arbitrary<A>) => orAbsent(cases - 1, member)

const is = Arbitrary.Constant(true)

// --- tools

const ending: Arbitrary.Arbitrary<Row> = Arbitrary.map(
  constantFrom("tell", "tell", "answer", "escalate", "raise", "rethrow", "tools-off"),
  (kind): Row => ({ kind })
)
const fix: Arbitrary.Arbitrary<Row> = Arbitrary.all({
  kind: Arbitrary.Constant("fix"),
  by: constantFrom("function", "agent"),
  as: constantFrom("arguments", "result")
})
const retry: Arbitrary.Arbitrary<Row> = Arbitrary.all({
  kind: Arbitrary.Constant("retry"),
  retries: integer(1, 3),
  wait: constantFrom(0, 100, 2000)
})

const ladder = (rung: Arbitrary.Arbitrary<Row>): Arbitrary.Arbitrary<Row> =>
  Arbitrary.map(Arbitrary.array(rung, { minLength: 1, maxLength: 3 }), (rungs): Row => ({ kind: "ladder", rungs }))

/** Arguments that do not fit never will, so no row retries them. */
const repair = oneOf([3, ending], [2, fix])
const repairs = oneOf([3, repair], [2, ladder(repair)])
const rung = oneOf([4, retry], [4, ending], [2, fix])
const row = oneOf([3, rung], [1, ladder(rung)], [1, ladder(oneOf([2, rung], [1, ladder(rung)]))])

/** The first attempts of a call, as any script of the kit has them; then it succeeds. */
const script = Arbitrary.map(
  Arbitrary.all({
    script: Arbitraries.script<Tag>(["Busy", "Busy", "Gone"]),
    count: constantFrom(0, 1, 1, 2, 3),
    takes: constantFrom(0, 0, 10, 3000)
  }),
  ({ count, script, takes }) =>
    FailureScript.make<Tag>(script.steps.slice(0, count), FailureScript.succeeds("fine, and some more words", takes))
)

const tool: Arbitrary.Arbitrary<Omit<ToolData, "name">> = Arbitrary.map(
  Arbitrary.all({
    sideEffects: constantFrom<SideEffects>("none", "idempotent", "unsafe", "undeclared"),
    timeout: onceIn(3, constantFrom(50, 1000, 20_000)),
    callTimeout: onceIn(4, constantFrom(200, 5000, 60_000)),
    verify: onceIn(3, constantFrom("took effect", "took none", "fails")),
    needsApproval: onceIn(5, is),
    script,
    rows: Arbitrary.all({
      Busy: oneOf<Row | undefined>([4, row], [1, Arbitrary.Constant(undefined)]),
      Gone: onceIn(2, row),
      InvalidArgs: onceIn(3, repairs),
      orElse: onceIn(3, row)
    })
  }),
  ({ callTimeout, needsApproval = false, rows, timeout, verify, ...rest }) => ({
    ...rest,
    needsApproval,
    ...given({ timeout, callTimeout, verify }),
    rows: given(rows)
  })
)

// --- models

const failure = constantFrom<ModelFailure>(
  "overloaded",
  "overloaded",
  "limited",
  "too long",
  "too long",
  "lost",
  "server",
  "server",
  "unauthorised"
)

/** A call of one of the agent's tools, by number, or of none. */
const call = Arbitrary.all({
  tool: onceIn(30, is),
  nth: integer(0, 59),
  arguments: constantFrom<CallData["arguments"]>(
    { n: 1 },
    { n: 2 },
    { n: 3 },
    { n: 4 },
    { n: 5 },
    { n: 6 },
    { n: "4" },
    '{"n": 5,}',
    { n: "five" },
    "{"
  )
})

const answer = { failures: [], partial: "", takes: 0, text: "", calls: [], finish: "stop" } as const

const limits: Arbitrary.Arbitrary<Budget.Limits> = Arbitrary.map(
  Arbitrary.all({
    usual: oneOf([1, Arbitrary.Constant<Budget.Limits>({})], [1, Arbitraries.limits]),
    maxConsecutiveSameTool: onceIn(10, integer(1, 3)),
    repeatedFailures: onceIn(10, Arbitrary.Constant({ hint: 1, withhold: 2, stop: 3 })),
    warnAt: onceIn(3, Arbitrary.Constant(0.5))
  }),
  ({ usual, ...own }) => ({ ...usual, ...given(own) })
)

// --- agents

/** An agent, and in it at most so many others. */
const agent = (name: string, deep: number): Arbitrary.Arbitrary<AgentData> =>
  Arbitrary.map(
    Arbitrary.all({
      tools: Arbitrary.array(tool, { minLength: 1, maxLength: 4 }),
      child: deep > 0 ? onceIn(2, agent(`${name}-below`, deep - 1)) : Arbitrary.Constant(undefined),
      turns: Arbitraries.modelTurns(call, { failure, maxCalls: 4 }),
      last: Arbitraries.modelTurns(call, { failure, minCalls: 0, maxCalls: 0, maxTurns: 1 }),
      text: constantFrom("All is done.", "7", "7"),
      isTwin: onceIn(20, is),
      limits,
      siblings: constantFrom("settleAll", "interrupt"),
      InvalidArgs: oneOf([2, repairs], [1, Arbitrary.Constant(undefined)]),
      UnknownToolError: constantFrom("tell", "tell", "raise", undefined),
      orElse: constantFrom("tell", "tell", "tell", "tell", "escalate", "raise", undefined),
      compacts: constantFrom("dropOldest", "shrinkLargestResult", "summarise", undefined),
      retries: integer(0, 3),
      wait: constantFrom(0, 100, 5000),
      onPartial: constantFrom("fail", "restart"),
      isDenied: onceIn(6, is),
      onBudget: constantFrom("stop", "answer", "extend", "checkpoint"),
      listens: onceIn(5, constantFrom(0, 10, 3000)),
      wantsNumber: onceIn(6, is)
    }),
    (drawn): AgentData => {
      const { child, compacts, InvalidArgs, last, listens, orElse, retries, turns, UnknownToolError } = drawn
      const tools = drawn.tools.map((one, index) => ({ name: `${name}-${index}`, ...one }))
      const names = [...tools.map((one) => one.name), ...(child === undefined ? [] : ["ask"])]
      const lines = turns.map((line, turn) => ({
        ...line,
        calls: line.calls.map((one, index): CallData => {
          const tool = one.tool === true ? "nothing" : (names[one.nth % names.length] ?? "nothing")
          const id = `${name}-${turn}-${drawn.isTwin === true ? "same" : index}`
          return { id, tool, arguments: tool === "ask" ? '{"input":"What is it?"}' : one.arguments }
        })
      }))
      return {
        name,
        tools,
        ...given({ child, listens, denied: drawn.isDenied === true ? tools[0]?.name : undefined }),
        lines: [...lines, { ...answer, ...last[0], calls: [], text: drawn.text }],
        limits: drawn.limits,
        siblings: drawn.siblings,
        defaults: given({
          InvalidArgs,
          UnknownToolError: UnknownToolError === undefined ? undefined : { kind: UnknownToolError },
          orElse: orElse === undefined ? undefined : { kind: orElse }
        }),
        models: given({
          ContextTooLongError: compacts === undefined ? undefined : ({ kind: "compact", by: compacts } as const),
          orElse: retries === 0 ? undefined : ({ kind: "retry", retries, wait: drawn.wait } as const)
        }),
        onPartial: drawn.onPartial,
        onBudget: drawn.onBudget,
        wantsNumber: drawn.wantsNumber === true
      }
    }
  )

// --- faults

const steps = 1000

const fault: Arbitrary.Arbitrary<FaultData> = Arbitrary.map(
  Arbitrary.all({ mode: constantFrom("whole", "streamed"), plan: Arbitraries.faultPlan(steps) }),
  ({ mode, plan: { at, fault } }) => ({
    mode,
    at: (at - 1) / steps,
    kind: fault.type === "interruption" ? fault.when : fault.type
  })
)

const scenario = (faults: number): Arbitrary.Arbitrary<Omit<Scenario, "seed">> =>
  Arbitrary.all({
    agent: agent("worker", 1),
    other: agent("other", 0),
    shape: oneOf<Shape>(
      [1, Arbitrary.Constant("alone")],
      [1, constantFrom("andThen", "parallel", "firstOf", "speculative", "fallback", "loopUntil")]
    ),
    approving: constantFrom("approve", "approve", "refuse", "change", "never"),
    models: Arbitrary.all({
      before: constantFrom(0, 0, 0, 1, 2),
      failing: constantFrom("overloaded", "lost", "limited")
    }),
    faults: Arbitrary.array(fault, { minLength: faults, maxLength: faults })
  })
