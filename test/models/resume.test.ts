/** Runs that are suspended wherever their plan says, and go on from any document that was kept: that is a fork of the run. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Message, Skill, Snapshot, Tool, Usage } from "@kintsugi/core"
import type * as Llm from "@kintsugi/core/Model"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, type Scope } from "effect"
import fc from "fast-check"
import { settlements } from "../_support/dialogue.ts"
import { batches, constantFrom } from "../_support/laws.ts"
import { agrees, type Command } from "./_support/commands.ts"
import { replying } from "./_support/talkingModel.ts"

/** What runs at once, what waits for approval, and an agent in which something does. */
type Kind = "look" | "pay" | "sub"

interface Setup {
  /** The calls of each turn; then the answer. */
  readonly plan: ReadonlyArray<ReadonlyArray<Kind>>
  readonly maxTurns: number
}

/** How far a run has come. */
interface State {
  /** Turns of the run itself that are over. */
  readonly done: number
  /** Of the turn that waits, the calls that do; nothing where it waits for a larger budget. */
  readonly waiting: ReadonlyArray<string>
  /** How the calls were settled that are, by their names. */
  readonly results: Readonly<Record<string, string>>
  /** With those of agents within. */
  readonly spent: { readonly turns: number; readonly toolCalls: number }
  readonly limit: number
}

type Said = "approve" | "refuse" | "leave"

interface Model {
  readonly plan: Setup["plan"]
  /** Of each document that was kept, what the run was like. */
  readonly documents: Array<State>
}

interface Real {
  /** As texts. */
  readonly documents: Array<string>
  /** What ran since the last look. */
  readonly ran: Array<string>
  readonly resume: (options: Agent.Resumption<string>) => Effect.Effect<Agent.Outcome<string>, unknown, Scope.Scope>
}

const nameOf = (turn: number, index: number): string => `${turn}.${index}`

/** A run goes on until it waits for something, or is over. */
const advance = (plan: Setup["plan"], state: State, ran: Array<string>): State & { readonly isOver: boolean } => {
  let { done, spent } = state
  const { limit } = state
  const results = { ...state.results }
  while (true) {
    if (spent.turns >= limit) return { ...state, done, results, spent, waiting: [], isOver: false }
    const calls = plan[done]
    spent = { turns: spent.turns + 1, toolCalls: spent.toolCalls + (calls?.length ?? 0) }
    if (calls === undefined) return { ...state, done, results, spent, waiting: [], isOver: true }
    const waiting: Array<string> = []
    for (const [index, kind] of calls.entries()) {
      const name = nameOf(done, index)
      if (kind === "look") {
        ran.push(name)
        results[name] = "result: seen"
      } else waiting.push(name)
      // it has asked its model, which made a call
      if (kind === "sub") spent = { turns: spent.turns + 1, toolCalls: spent.toolCalls + 1 }
    }
    if (waiting.length > 0) return { ...state, done, results, spent, waiting, isOver: false }
    done++
  }
}

/** What was decided is done, and the rest waits on. */
const decided = (plan: Setup["plan"], state: State, said: ReadonlyArray<Said>, ran: Array<string>): State => {
  if (state.waiting.length === 0) return state
  let { results, spent } = state
  const waiting = state.waiting.filter((name, index) => {
    const answer = said[index % said.length] ?? "leave"
    if (answer === "leave") return true
    if (answer === "approve") ran.push(name)
    const isSub = plan[state.done]?.[Number(name.split(".")[1])] === "sub"
    // it asks its model once more
    if (isSub) spent = { ...spent, turns: spent.turns + 1 }
    const result = answer === "approve" ? "result: paid" : "denied: no"
    results = { ...results, [name]: isSub ? "result: sub done" : result }
    return false
  })
  return { ...state, waiting, results, spent, done: waiting.length === 0 ? state.done + 1 : state.done }
}

const check = (model: Model, real: Real, outcome: Agent.Outcome<string>, state: State, isOver: boolean): void => {
  if (isOver) {
    const names = model.plan.flatMap((calls, turn) => calls.map((_, index) => nameOf(turn, index)))
    const output = names.map((name) => state.results[name]).join(", ") || "nothing"
    return assert.deepInclude(outcome, { _tag: "Completed", output, finish: "stop" })
  }
  assert(outcome._tag === "Suspended", outcome._tag)
  const { snapshot } = outcome
  assert.strictEqual(Snapshot.requestsOf(snapshot).length, state.waiting.length)
  const { millis: _, ...spent } = snapshot.spent
  assert.deepStrictEqual(spent, state.spent)
  assert.strictEqual(snapshot.limits.maxTurns, state.limit)
  const usage = snapshot.ledger.map((entry) => entry.usage).reduce(Usage.add, Usage.empty)
  assert.strictEqual(Usage.total(usage), 15 * state.spent.turns)
  model.documents.push(state)
  real.documents.push(JSON.stringify(Snapshot.toJson(snapshot)))
  return undefined
}

/** Goes on from one of the documents, with what was decided, and perhaps with more turns. */
const resuming = (which: number, said: ReadonlyArray<Said>, more: number): Command<Model, Real> => ({
  says: `resumes from ${which}: ${said.join(", ")}${more === 0 ? "" : `, ${more} more turns`}`,
  can: ({ documents }) => documents.length > 0,
  does: (model, real) =>
    Effect.gen(function* () {
      const at = which % model.documents.length
      const [before, text] = [model.documents[at], real.documents[at]]
      assert(before !== undefined && text !== undefined)
      const from = yield* Snapshot.fromJson(JSON.parse(text))
      const decisions = Snapshot.requestsOf(from).flatMap(({ digest }, index) => {
        const answer = said[index % said.length] ?? "leave"
        return answer === "leave" ? [] : [{ digest, decision: decisionOf(answer) }]
      })
      real.ran.length = 0
      const limit = before.limit + more
      const budget = more === 0 ? {} : { budget: { maxTurns: limit } }
      const outcome = yield* real.resume({ from, decisions, repeat: true, ...budget })
      const ran: Array<string> = []
      const state = decided(model.plan, { ...before, limit }, said, ran)
      const after = state.waiting.length > 0 ? { ...state, isOver: false } : advance(model.plan, state, ran)
      assert.deepStrictEqual(real.ran.toSorted(), ran.toSorted())
      const { isOver, ...documents } = after
      check(model, real, outcome, documents, isOver)
    })
})

const decisionOf = (said: Said): Approval.Decision => (said === "approve" ? Approval.approve : Approval.refuse("no"))

/** The next turn of a plan, by how many there were; at its end what became of all calls. */
const replyTo =
  (plan: Setup["plan"]) =>
  ({ messages }: Llm.Request): Message.Reply => {
    const turn = messages.filter(({ role }) => role === "assistant").length
    const calls = plan[turn]?.map((kind, index) => {
      const at = nameOf(turn, index)
      return ScriptedModel.call(kind, kind === "sub" ? { input: at } : { at }, at)
    })
    const said = settlements(messages).map((text) => text.replace(/^denied: .*no.*$/s, "denied: no"))
    return ScriptedModel.reply({ content: calls ?? [Message.text(said.join(", ") || "nothing")] })
  }

/** Pays as it is told, and is done. */
const subReply = ({ messages }: Llm.Request): Message.Reply => {
  const at = messages.flatMap((one) => (one.role === "user" ? [Message.textOf(one)] : []))[0] ?? ""
  const content = messages.length > 1 ? [Message.text("sub done")] : [ScriptedModel.call("pay", { at }, "p")]
  return ScriptedModel.reply({ content })
}

const made = ({ maxTurns, plan }: Setup) => {
  const ran: Array<string> = []
  const tool = (name: "look" | "pay", says: string) =>
    Tool.make(name, {
      description: `Does ${name}.`,
      parameters: Schema.Struct({ at: Schema.String }),
      success: Schema.String,
      run: ({ at }) => Effect.sync(() => (ran.push(at), says))
    })
  const pay = tool("pay", "paid").pipe(Tool.requireApproval({ validFor: "1 day" }))
  const sub = Agent.make("sub", {
    model: replying(subReply),
    skills: [Skill.make("work", { description: "Works.", tools: [pay] })]
  })
  const agent = Agent.make("worker", {
    model: replying(replyTo(plan)),
    budget: { maxTurns, maxToolCalls: 999 },
    skills: [
      Skill.make("work", {
        description: "Works.",
        tools: [tool("look", "seen"), pay, Agent.asTool(sub, { description: "Does it." })]
      })
    ]
  }).pipe(Agent.onBudgetExceeded(() => Budget.checkpoint))
  return { agent, ran }
}

/** What was decided is in the resumption. */
const unasked = Approval.layer(() => Effect.die(new Error("no approver is to be asked")))

const started = (setup: Setup): Effect.Effect<Real, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, ran } = made(setup)
    const outcome = yield* Effect.flatMap(agent.start("go"), ({ outcome }) => outcome).pipe(Effect.provide(unasked))
    const documents = outcome._tag === "Suspended" ? [JSON.stringify(Snapshot.toJson(outcome.snapshot))] : []
    const resume: Real["resume"] = (options) =>
      Effect.flatMap(Agent.resume(agent).start(options), ({ outcome }) => outcome).pipe(Effect.provide(unasked))
    return { documents, ran, resume }
  }).pipe(Effect.orDie)

const said = fc.array(fc.constantFrom<Said>("approve", "approve", "refuse", "leave"), { minLength: 1, maxLength: 3 })

agrees(
  "a run goes on from any of its documents as from that point, and nothing runs or is paid twice [P902 A909 P703]",
  {
    setup: fc.oneof(
      fc.record({
        plan: batches(constantFrom<Kind>("look", "pay")),
        maxTurns: fc.integer({ min: 1, max: 5 })
      }),
      // the turns of an agent within are no matter of the limit here
      fc.record({ plan: batches(constantFrom<Kind>("look", "pay", "sub")), maxTurns: fc.constant(99) })
    ),
    commands: [
      fc.tuple(fc.nat(9), said, fc.constantFrom(0, 0, 1, 2)).map((of) => resuming(...of)),
      fc.tuple(fc.nat(9), fc.constant<ReadonlyArray<Said>>(["approve"]), fc.constant(0)).map((of) => resuming(...of))
    ],
    maxCommands: 6,
    model: ({ maxTurns, plan }): Model => {
      const start = { done: 0, waiting: [], results: {}, spent: { turns: 0, toolCalls: 0 }, limit: maxTurns }
      const { isOver, ...state } = advance(plan, start, [])
      return { plan, documents: isOver ? [] : [state] }
    },
    real: started
  }
)
