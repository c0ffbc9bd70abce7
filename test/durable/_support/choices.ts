/** Runs whose course is decided from outside, or by functions of the user: the same in memory and as workflows. */
import {
  Agent,
  Budget,
  Compaction,
  LlmError,
  Message,
  Model,
  Recovery,
  Router,
  Skill,
  Tool,
  ToolPolicy
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { batch, done } from "../../_support/dialogue.ts"
import { type Cast, cast, Gone, model, skilled, slowly, tools } from "./scenarios.ts"

const tooLong = LlmError.ContextTooLongError.make({ model: "scripted" })

export const choices: Readonly<Record<string, Effect.Effect<Cast, never, Scope.Scope>>> = {
  "a rule that says something else each time": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look-one"), done)
    let nth = 0
    const rule = Effect.sync((): "one" | "two" => (++nth === 1 ? "one" : "two"))
    const skill = (name: "one" | "two") =>
      Skill.make(name, { description: name, tools: [tool(`look-${name}`, () => slowly(Effect.succeed(name)))] })
    const agent = Agent.make("worker", { skills: [skill("one"), skill("two")] }).pipe(
      Agent.route(Router.byRule(() => rule))
    )
    return cast(agent, [asked], runs)
  }),

  "a rule that fails": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model()
    const skill = (name: "one" | "two") =>
      Skill.make(name, { description: name, tools: [tool(`look-${name}`, () => Effect.succeed(name))] })
    const agent = Agent.make("worker", { skills: [skill("one"), skill("two")] }).pipe(
      Agent.route(Router.byRule(() => Effect.fail(new Gone({ message: "unknown" }))))
    )
    return cast(agent, [asked], runs)
  }),

  "guardrails that decide something else each time": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), ScriptedModel.text("bad"), ScriptedModel.text("good"))
    const judge = yield* model(ScriptedModel.text("fine"), ScriptedModel.text("fine"), ScriptedModel.text("fine"))
    const judging = Agent.make("judge", { model: judge.layer })
    const seen = new Map<string, number>()
    // a second answer about the same text would be another one
    const once = (text: string) =>
      Effect.sync(() => {
        const times = (seen.get(text) ?? 0) + 1
        seen.set(text, times)
        return times === 1 && text !== "bad" ? Agent.guard.pass : Agent.guard.block(`${text}, ${times}`)
      })
    const agent = Agent.make("worker", { skills: skilled(tool("look", (n) => slowly(Effect.succeed(`${n}`)))) }).pipe(
      Agent.guardInput(({ text }) => Effect.andThen(judging(text), once(text))),
      Agent.guardInput(({ text }) => Effect.delay(once(`first ${text}`), "1 second"), {
        mode: "before",
        name: "first"
      }),
      Agent.guardOutput(({ text }) => Effect.andThen(judging(text), once(text)), { name: "last" }),
      Agent.onGuardrail({ output: Recovery.tell() })
    )
    return cast(agent, [asked, judge], runs)
  }),

  "a guardrail that blocks beside the model call": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"))
    const agent = Agent.make("worker", { skills: skilled(tool("look", () => Effect.succeed("seen"))) }).pipe(
      Agent.guardInput(() => Effect.delay(Effect.succeed(Agent.guard.block("no")), "10 seconds"), { name: "late" })
    )
    return cast(agent, [asked], runs)
  }),

  "limits with another decision each time": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), batch("look"), batch("look"))
    let nth = 0
    const decided = Effect.sync(() => (++nth === 1 ? Budget.extend(3) : Budget.stop))
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: skilled(tool("look", (n) => slowly(Effect.succeed(`${n}`))))
    }).pipe(Agent.onBudgetExceeded(() => decided))
    return cast(agent, [asked], runs)
  }),

  "limits at which a run answers once, a sub-agent too": Effect.gen(function* () {
    const { runs, tool } = tools()
    const once = () => {
      let nth = 0
      return Effect.sync(() => (++nth === 1 ? Budget.answer : Budget.stop))
    }
    const look = tool("look", (nth) => slowly(Effect.succeed(`${nth}`)))
    const see = tool("see", (nth) => slowly(Effect.succeed(`${nth}`)))
    const nested = yield* model(batch("see"), ScriptedModel.text("half"))
    const decidedWithin = once()
    const inner = Agent.make("inner", { model: nested.layer, budget: { maxTurns: 1 }, skills: skilled(see) }).pipe(
      Agent.onBudgetExceeded(() => decidedWithin)
    )
    const asked = yield* model(
      ScriptedModel.calls(ScriptedModel.call("inner", { input: "why?" }), ScriptedModel.call("look", {}, "c2")),
      ScriptedModel.text("all")
    )
    const decided = once()
    const agent = Agent.make("worker", {
      budget: { maxTokens: 60 },
      skills: skilled(look, Agent.asTool(inner, { description: "Looks." }))
    }).pipe(Agent.onBudgetExceeded(() => slowly(decided), { reserve: { outputTokens: 10 } }))
    return cast(agent, [asked, nested], runs)
  }),

  "a limit at which a run finds no answer": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), ScriptedModel.fails(tooLong))
    const agent = Agent.make("worker", {
      budget: { maxTurns: 1 },
      skills: skilled(tool("look", (n) => slowly(Effect.succeed(`${n}`))))
    }).pipe(Agent.onBudgetExceeded(() => Budget.answer))
    return cast(agent, [asked], runs)
  }),

  "turns that are prepared in another way each time": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), batch("look", "see"), done)
    let nth = 0
    const agent = Agent.make("worker", {
      prompt: "Be.",
      skills: skilled(
        tool("look", (n) => slowly(Effect.succeed(`${n}`))),
        tool("see", (n) => slowly(Effect.succeed(`${n}`)))
      )
    }).pipe(
      Agent.prepareTurn(({ turn }) =>
        slowly(
          Effect.sync(() => (++nth === turn ? { tools: ["look"], prompt: `Turn ${turn}.` } : { toolChoice: "none" }))
        )
      )
    )
    return cast(agent, [asked], runs)
  }),

  "turns with models of their own": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), done)
    const failing = yield* model(ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "scripted" })))
    const second = yield* model(batch("look"))
    const chosen = Model.fallback(failing.layer, second.layer)
    const agent = Agent.make("worker", {
      skills: skilled(tool("look", (n) => slowly(Effect.succeed(`${n}`))))
    }).pipe(Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 2 ? { model: chosen } : {})))
    return cast(agent, [asked, failing, second], runs)
  }),

  "results with images": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), batch("look"), done)
    const look = tool("look", (n) => slowly(Effect.succeed("AAAA".repeat(n)))).pipe(
      Tool.parts((data) => [Message.text("Here"), Message.image("image/png", { data })], { unsupported: "follow" })
    )
    return cast(Agent.make("worker", { skills: skilled(look) }), [asked], runs)
  }),

  "a turn that is not prepared": Effect.gen(function* () {
    const { runs } = tools()
    const asked = yield* model()
    const agent = Agent.make("worker", {}).pipe(Agent.prepareTurn(() => Effect.fail(new Gone({ message: "unknown" }))))
    return cast(agent, [asked], runs)
  }),

  "functions in rows and fixers": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(
      ScriptedModel.calls(ScriptedModel.call("look", "not json"), ScriptedModel.call("see", {}, "c2")),
      done
    )
    const look = tool("look", (nth) => slowly(Effect.succeed(`${nth}`))).pipe(
      Tool.onError({ InvalidArgs: Recovery.fix((text) => Effect.succeed(`{"n": ${text.length}}`)) })
    )
    const see = tool("see", () => slowly(Effect.fail(new Gone({ message: "gone" })))).pipe(
      Tool.onError({
        Gone: Recovery.ladder(
          Recovery.when((gone) => (gone.message === "gone" ? Recovery.retry({ retries: 1 }) : Recovery.rethrow)),
          Recovery.respondWith((gone) => Effect.succeed(`was ${gone.message}`))
        )
      })
    )
    return cast(Agent.make("worker", { skills: skilled(look, see) }), [asked], runs)
  }),

  "a conversation that is shortened, by a function and by an agent": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(
      batch("look"),
      batch("look"),
      ScriptedModel.fails(tooLong),
      ScriptedModel.fails(tooLong),
      done
    )
    const shortening = yield* model(ScriptedModel.text("brief"))
    const shortener = Agent.make("shortener", { model: shortening.layer })
    const agent = Agent.make("worker", {
      skills: skilled(tool("look", (nth) => slowly(Effect.succeed("word ".repeat(nth === 1 ? 60 : 400)))))
    }).pipe(
      Agent.onLlmError({
        ContextTooLongError: Recovery.ladder(
          Recovery.compact(Compaction.shrinkLargestResult({ maxLength: 500 })),
          Recovery.compact(Compaction.summarise(shortener, { keepLast: 1 }))
        )
      })
    )
    return cast(agent, [asked, shortening], runs)
  }),

  "conversations that are shortened before they are too long, by a function that is another each time and by an agent":
    Effect.gen(function* () {
      const { runs, tool } = tools()
      const asked = yield* model(
        batch("look"),
        batch("look"),
        batch("look"),
        ScriptedModel.calls(ScriptedModel.call("ask", { input: "why?" })),
        done
      )
      const nested = yield* model(batch("see"), done)
      const shortening = yield* model(ScriptedModel.text("brief"))
      const shortener = Agent.make("shortener", { model: shortening.layer })
      const long = (name: "look" | "see") =>
        tool(name, (nth) => slowly(Effect.succeed(`${nth} ${"word ".repeat(200)}`)))
      const inner = Agent.make("ask", { model: nested.layer, skills: skilled(long("see")) }).pipe(
        Agent.compactAt({
          window: 20,
          with: Compaction.make("own", ({ transcript }) =>
            Effect.map(shortener(`${transcript.length}`), (said) => [Message.user(said)])
          )
        })
      )
      let nth = 0
      const numbered = Compaction.make("numbered", () =>
        slowly(
          Effect.suspend(() => {
            nth++
            if (nth === 3) throw new Error("a bug of the compaction")
            return nth === 2
              ? Effect.fail(new Gone({ message: "no summary" }))
              : Effect.succeed([Message.user(`summary ${nth}`)])
          })
        )
      )
      const agent = Agent.make("worker", {
        skills: skilled(long("look"), Agent.asTool(inner, { description: "Asks." }))
      }).pipe(Agent.compactAt({ window: 20, with: numbered }))
      return cast(agent, [asked, nested, shortening], runs)
    }),

  "a conversation that an agent sums up before it is too long": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), batch("look"), done)
    const shortening = yield* model(ScriptedModel.text("brief"))
    const agent = Agent.make("worker", {
      skills: skilled(tool("look", (nth) => slowly(Effect.succeed(`${nth} ${"word ".repeat(200)}`))))
    }).pipe(
      Agent.compactAt({
        window: 300,
        with: Compaction.summarise(Agent.make("shortener", { model: shortening.layer }), { keepLast: 1 })
      })
    )
    return cast(agent, [asked, shortening], runs)
  }),

  "long results that are put aside, in memory and in a store that fails at times": Effect.gen(function* () {
    const { runs, tool } = tools()
    const reads = ScriptedModel.answers(({ messages }) => {
      const handles = JSON.stringify(messages).match(/handle: \\"[\w-]+/g) ?? []
      const content = handles.map((handle, index) =>
        ScriptedModel.call("read_result", { handle: handle.slice(10), from: 1000, length: 10 }, `r${index}`)
      )
      return Effect.succeed(ScriptedModel.reply({ content }))
    })
    const nested = yield* model(batch("see", "see", "see"), reads, done)
    const asked = yield* model(
      batch("look"),
      reads,
      ScriptedModel.calls(ScriptedModel.call("ask", { input: "why?" })),
      done
    )
    const long = (name: "look" | "see") => tool(name, (nth) => slowly(Effect.succeed(`${nth} ${"word ".repeat(1000)}`)))
    const texts = new Map<string, string>()
    let nth = 0
    const store: Tool.ResultStore = {
      put: ({ handle, text }) =>
        slowly(
          Effect.suspend(() =>
            ++nth === 2
              ? Effect.fail(new Gone({ message: "no disk" }))
              : Effect.sync(() => void texts.set(handle, text))
          )
        ),
      get: ({ handle }) => Effect.sync(() => texts.get(handle))
    }
    const inner = Agent.make("ask", {
      model: nested.layer,
      skills: skilled(long("see")),
      putAside: Tool.putAside({ above: 900 })
    })
    const agent = Agent.make("worker", {
      skills: skilled(
        long("look"),
        Agent.asTool(inner.pipe(Agent.provide(Layer.succeed(Tool.ResultStore, store))), {
          name: "ask",
          description: "Asks."
        })
      ),
      putAside: Tool.putAside({ above: 900 })
    })
    // handles are derived from the id of the run
    return cast(agent.pipe(Agent.withRunId("run-1")), [asked, nested], runs)
  }),

  "an agent that is read while it streams": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(
      ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "scripted" })),
      batch("look"),
      done
    )
    const inner = Agent.make("inner", {
      model: asked.layer,
      skills: skilled(tool("look", () => slowly(Effect.succeed("seen"))))
    }).pipe(Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ maxAttempts: 2, initialBackoff: "2 minutes" }) }))
    const agent = Agent.deterministic("worker", (input: string) =>
      Stream.runFold(
        inner.stream(input),
        () => "",
        (text, event) => (event.type === "text-delta" ? text + event.text : text)
      )
    )
    return cast(agent, [asked], runs)
  }),

  "a policy that says something else each time": Effect.gen(function* () {
    const { runs, tool } = tools()
    const asked = yield* model(batch("look"), batch("look"), done)
    let nth = 0
    const agent = Agent.make("worker", {
      skills: skilled(tool("look", (n) => slowly(Effect.succeed(`${n}`))))
    }).pipe(Agent.toolPolicy(() => (++nth === 1 ? ToolPolicy.allow : ToolPolicy.deny(`no ${nth}`))))
    return cast(agent, [asked], runs)
  }),

  "a look-up that finds something else each time": Effect.gen(function* () {
    const { runs } = tools()
    const asked = yield* model(batch("pay"), batch("pay"), done)
    let nth = 0
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "unsafe",
      timeout: 2000,
      verify: () => Effect.sync(() => Option.some(`paid ${++nth}`)),
      run: () => Effect.never
    })
    return cast(Agent.make("worker", { skills: skilled(pay) }), [asked], runs)
  }),

  "an agent within the run of a tool": Effect.gen(function* () {
    const { runs } = tools()
    const asked = yield* model(batch("ask"), batch("ask"), done)
    const nested = yield* model(ScriptedModel.text("yes"), ScriptedModel.text("no"))
    const inner = Agent.make("inner", { model: nested.layer })
    const ask = Tool.make("ask", {
      description: "Asks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => inner("sure?")
    })
    return cast(Agent.make("worker", { skills: skilled(ask) }), [asked, nested], runs)
  })
}
