/** Runs that have to be the same in memory and as workflows: each is made anew for every way to run it. */
import { Agent, Approval, type KintsugiError, LlmError, Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Layer, Schema, type Scope } from "effect"
import { batch, done } from "../../_support/dialogue.ts"

export class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}
export class Gone extends Schema.TaggedError<Gone>()("Gone", { message: Schema.String }) {}

/** The failures of the tools here, as they are stored. */
export const Failures = Schema.Union([Busy, Gone])

/** One run of a tool, as it saw it. */
export interface ToolRun {
  readonly tool: string
  readonly at: number
  readonly params: unknown
  readonly attempt: number
  readonly key: string
}

type Failing = Busy | Gone

/** What a scenario is made of. */
export interface Cast {
  readonly agent: Agent.Agent<string, string, KintsugiError.KintsugiError | Failing, Model.Model | Approval.Approver>
  readonly models: ReadonlyArray<ScriptedModel.ScriptedModel>
  readonly layer: Layer.Layer<Model.Model>
  readonly runs: ReadonlyArray<ToolRun>
}

/** Tools that keep their runs. */
export const tools = () => {
  const runs: Array<ToolRun> = []
  const tool = <
    const Name extends string,
    const S extends Recovery.SideEffects = "undeclared",
    T extends number | undefined = undefined
  >(
    name: Name,
    run: (nth: number) => Effect.Effect<string, Failing>,
    options?: { readonly sideEffects?: S; readonly timeout?: T }
  ) => {
    let nth = 0
    return Tool.make(name, {
      description: `The tool ${name}.`,
      parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
      success: Schema.String,
      failure: Failures,
      ...options,
      run: (params, { attempt, idempotencyKey: key }) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          runs.push({ tool: name, at, params, attempt, key })
          return run(++nth)
        })
    })
  }
  return { runs, tool }
}

export const skilled = (...all: ReadonlyArray<Tool.AnyTool>) =>
  [Skill.make("work", { description: "Works.", tools: all })] as const

export const model = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) => ScriptedModel.make(...steps)

export const cast = (
  agent: unknown,
  models: ReadonlyArray<ScriptedModel.ScriptedModel>,
  runs: ReadonlyArray<ToolRun>,
  layer?: Layer.Layer<Model.Model>
): Cast => ({
  // the types of agents are tested elsewhere
  agent: agent as Cast["agent"],
  models,
  runs,
  layer: layer ?? models[0]?.layer ?? Layer.succeed(Model.Model, {} as never)
})

const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })

export const slowly = <A, E>(effect: Effect.Effect<A, E>, millis = 1000) => Effect.delay(effect, millis)

export const scenarios: Readonly<Record<string, Effect.Effect<Cast, never, Scope.Scope>>> = {
  "tools that work, at once": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("a", "b", "c"), batch("a"), done)
    const names = ["a", "b", "c"] as const
    const all = names.map((name, i) => tool(name, () => slowly(Effect.succeed(`${name}!`), 3000 - i * 1000)))
    return cast(Agent.make("worker", { skills: skilled(...all) }), [asked], runs)
  }),

  "tools that wait for their turn": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("a", "b", "c", "d"), done)
    const waits = { a: 5000, b: 1000, c: 2000, d: 500 }
    const all = Object.entries(waits).map(([name, millis]) => tool(name, () => slowly(Effect.succeed(name), millis)))
    return cast(Agent.make("worker", { budget: { toolConcurrency: 2 }, skills: skilled(...all) }), [asked], runs)
  }),

  "a failure that the model reads and corrects": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(
      ScriptedModel.calls(ScriptedModel.call("look", { n: "three" })),
      ScriptedModel.calls(ScriptedModel.call("look", { n: 3 })),
      ScriptedModel.calls(ScriptedModel.call("nothing", {})),
      done
    )
    const look = tool("look", (nth) =>
      nth === 1 ? Effect.fail(new Gone({ message: "gone" })) : Effect.succeed("seen")
    )
    const agent = Agent.make("worker", { skills: skilled(look) }).pipe(
      Agent.toolDefaults({ orElse: Recovery.tell(), InvalidArgs: Recovery.tell() })
    )
    return cast(agent, [asked], runs)
  }),

  "retries with waits, short and long, with chance": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(ScriptedModel.fails(overloaded), batch("look", "see"), done)
    const failing = (nth: number) =>
      slowly(nth < 3 ? Effect.fail(new Busy({ message: `busy ${nth}` })) : Effect.succeed("seen"))
    const retry = (initialBackoff: number) => Recovery.retry({ maxAttempts: 4, initialBackoff })
    const agent = Agent.make("worker", {
      budget: { maxDuration: "1 day" },
      skills: skilled(
        tool("look", failing).pipe(Tool.onError({ Busy: retry(2000) })),
        tool("see", failing).pipe(Tool.onError({ Busy: retry(100_000) }))
      )
    }).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ maxAttempts: 3, initialBackoff: 500 }) }))
    return cast(agent, [asked], runs)
  }),

  "arguments that an agent repairs": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(ScriptedModel.calls(ScriptedModel.call("look", "not json")), done)
    const mending = yield* model(ScriptedModel.text('{"n": 1}'), ScriptedModel.text('{"n": 2}'))
    const fixer = Agent.make("fixer", { model: mending.layer })
    const look = tool("look", (nth) =>
      nth === 1 ? Effect.fail(new Gone({ message: "gone" })) : Effect.succeed("seen")
    )
    const agent = Agent.make("worker", {
      skills: skilled(look.pipe(Tool.onError({ InvalidArgs: Recovery.fix(fixer), Gone: Recovery.fix(fixer) })))
    })
    return cast(agent, [asked, mending], runs)
  }),

  "models in an order": Effect.gen(function* () {
    const { runs, tool } = tools()
    const first = yield* model(ScriptedModel.fails(overloaded), ScriptedModel.fails(overloaded))
    const second = yield* model(batch("look"), done)
    const layer = Model.fallback(first.layer, second.layer)
    const look = tool("look", () => Effect.succeed("seen"))
    return cast(Agent.make("worker", { skills: skilled(look) }), [first, second], runs, layer)
  }),

  "a call that is approved, and one that is refused": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("pay", "look"), batch("drop"), done)
    const pay = tool("pay", () => Effect.succeed("paid")).pipe(Tool.requireApproval())
    const drop = tool("drop", () => Effect.succeed("dropped")).pipe(Tool.requireApproval())
    const look = tool("look", () => slowly(Effect.succeed("seen")))
    const agent = Agent.make("worker", { budget: { maxDuration: "10 days" }, skills: skilled(pay, drop, look) })
    return cast(agent, [asked], runs)
  }),

  "an agent as a tool, twice at once": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(
      ScriptedModel.calls(
        ScriptedModel.call("inner", { input: "one" }, "same"),
        ScriptedModel.call("inner", { input: "two" }, "same")
      ),
      done
    )
    const answering = ScriptedModel.answers(({ messages }) =>
      Effect.succeed(
        ScriptedModel.reply({
          content: messages.some(({ role }) => role === "assistant")
            ? [{ type: "text", text: "inner done" }]
            : [ScriptedModel.call("look", {})]
        })
      )
    )
    const nested = yield* model(answering, answering, answering, answering)
    const look = tool("look", () => slowly(Effect.succeed("seen")))
    const inner = Agent.make("inner", { model: nested.layer, skills: skilled(look) })
    const agent = Agent.make("worker", { skills: skilled(Agent.asTool(inner, { description: "Works." })) })
    return cast(agent, [asked, nested], runs)
  }),

  "a budget of turns that is used up": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), batch("look"))
    const look = tool("look", () => Effect.succeed("seen"))
    return cast(Agent.make("worker", { budget: { maxTurns: 2 }, skills: skilled(look) }), [asked], runs)
  }),

  "a budget of time that is over within a tool": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look", "slow"))
    const look = tool("look", () => slowly(Effect.succeed("seen")))
    const slow = tool("slow", () => slowly(Effect.succeed("too late"), 60_000))
    const agent = Agent.make("worker", { budget: { maxDuration: "10 seconds" }, skills: skilled(look, slow) })
    return cast(agent, [asked], runs)
  }),

  "tools that are cut off, and a sub-agent that has no more time": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(
      ScriptedModel.calls(ScriptedModel.call("slow", {}), ScriptedModel.call("inner", { input: "go" })),
      done
    )
    const nested = yield* model(batch("slower"))
    const never = (nth: number) => slowly(Effect.succeed(`end ${nth}`), nth === 1 ? 60_000 : 10)
    const slow = tool("slow", never, { timeout: 2000 }).pipe(
      Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 1 }) })
    )
    const inner = Agent.make("inner", {
      budget: { maxDuration: "5 seconds" },
      model: nested.layer,
      skills: skilled(tool("slower", never))
    })
    const agent = Agent.make("worker", {
      skills: skilled(slow, Agent.asTool(inner, { description: "Works." }))
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    return cast(agent, [asked, nested], runs)
  }),

  "a failure of its own that leaves the run": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"))
    const look = tool("look", () => Effect.fail(new Gone({ message: "gone" })))
    return cast(Agent.make("worker", { skills: skilled(look) }), [asked], runs)
  }),

  "an unsafe tool": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("pay", "pay"), done)
    const pay = tool("pay", (nth) => slowly(Effect.succeed(`paid ${nth}`), nth), { sideEffects: "unsafe" })
    return cast(Agent.make("worker", { skills: skilled(pay) }), [asked], runs)
  }),

  "what was done is undone, once the run has failed": Effect.gen(function* () {
    const { runs, tool } = tools()
    const undoing = (name: string, millis: number, undo = Effect.void as Effect.Effect<void, Failing>) =>
      tool(name, () => slowly(Effect.succeed(name), millis)).pipe(
        Tool.compensate(({ idempotencyKey: key, params }) =>
          Effect.flatMap(Clock.currentTimeMillis, (at) => {
            runs.push({ tool: `undo ${name}`, at, params, attempt: 1, key })
            return slowly(undo)
          })
        )
      )
    const asked = yield* model(
      batch("car", "room"),
      ScriptedModel.calls(ScriptedModel.call("inner", { input: "go" })),
      batch("look")
    )
    const nested = yield* model(batch("seat"), done)
    const inner = Agent.make("inner", { model: nested.layer, skills: skilled(undoing("seat", 500)) })
    const agent = Agent.make("worker", {
      skills: skilled(
        undoing("car", 3000),
        undoing("room", 1000, Effect.fail(new Busy({ message: "no way back" }))),
        Agent.asTool(inner, { description: "Works." }),
        tool("look", () => Effect.fail(new Gone({ message: "gone" })))
      )
    })
    return cast(agent, [asked, nested], runs)
  }),

  "a policy, and tasks that are completed": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look", "drop"), ScriptedModel.text("finished"))
    const agent = Agent.make("worker", {
      skills: skilled(
        tool("look", () => Effect.succeed("seen")),
        tool("drop", () => Effect.succeed("dropped"))
      )
    }).pipe(Agent.toolPolicy(({ tool }) => (tool === "drop" ? { type: "deny", reason: "not now" } : { type: "allow" })))
    return cast(agent, [asked], runs)
  }),

  "agents one after the other, and beside each other": Effect.gen(function* () {
    const { runs, tool } = tools()
    const one = (name: string) => model(batch(name), ScriptedModel.text(`${name} done`))
    const [ofA, ofB, ofC] = [yield* one("a"), yield* one("b"), yield* one("c")]
    const own = (name: string, millis: number) => skilled(tool(name, () => slowly(Effect.succeed(name), millis)))
    const a = Agent.make("a", { model: ofA.layer, skills: own("a", 3000) })
    const b = Agent.make("b", { model: ofB.layer, skills: own("b", 2000) })
    const input = Schema.Struct({ a: Schema.String, b: Schema.String })
    const c = Agent.make("c", { input, model: ofC.layer, skills: own("c", 1000) })
    return cast(Agent.andThen(Agent.parallel({ a, b }), c), [ofA, ofB, ofC], runs)
  })
}

/** Approves after an hour, and refuses to drop anything. */
export const decision = (request: Approval.ApprovalRequest): Approval.Decision =>
  request.tool === "drop" ? Approval.refuse("keep it") : Approval.approve

export const approver = Approval.layer((request) => Effect.delay(Effect.succeed(decision(request)), "1 hour"))
