/** Names that differ from that of one tool only in case, separators or a known prefix. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Completion, type Message, Recovery, Tool, ToolPolicy } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { batch, busy, done, eventLog, play, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const readFile = () => scripted("readFile", Effect.succeed("text"))

it.run("a name that differs in case, separators or a known prefix alone runs as the tool [P1342]", (run) =>
  Effect.gen(function* () {
    for (const name of [
      "read_file",
      "ReadFile",
      "READ-FILE",
      "read file",
      "functions.readFile",
      "functions.read_file",
      "function:readFile",
      "tools.readFile",
      "tool/readFile"
    ]) {
      const log = eventLog()
      const { runs, tool } = readFile()
      const model = yield* ScriptedModel.make(batch(name), done)
      yield* run(Agent.make("worker", { tools: [tool] }).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), ["result: text"], name)
      assert.lengthOf(runs, 1)
      const settlements = log.all.flatMap((event) =>
        event.type === "tool-start" || event.type === "tool-end" ? [[event.type, event.tool]] : []
      )
      assert.deepStrictEqual(settlements, [
        ["tool-start", "readFile"],
        ["tool-end", "readFile"]
      ])
      const names = log.all.flatMap((event) => (event.type === "tool-start" ? [event.calledAs] : []))
      assert.deepStrictEqual(names, [name])
      // the transcript keeps what the model wrote
      const sent = model.requests.at(-1)?.messages ?? []
      assert.deepStrictEqual(
        sent.flatMap((message) => (message.role === "assistant" ? namesOf(message) : [])),
        [name]
      )
    }
  })
)

const namesOf = ({ content }: Message.Assistant): ReadonlyArray<string> =>
  content.flatMap((part) => (part.type === "settled-call" ? [part.call.name] : []))

it.run("the name of the tool itself is no other, and the event has one name [P1342]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { tool } = readFile()
    const model = yield* ScriptedModel.make(batch("readFile"), done)
    yield* run(Agent.make("worker", { tools: [tool] }).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const start = log.all.find((event) => event.type === "tool-start")
    assert(start !== undefined)
    assert.notProperty(start, "calledAs")
  })
)

it.run("a name that fits two tools, has another letter or is too long is an unknown tool [P1342 P405]", (run) =>
  Effect.gen(function* () {
    for (const [name, suggestion] of [
      ["get.user", "; did you mean getUser?"],
      ["getUsers", "; did you mean getUser?"],
      ["xfunctions.getUser", "; did you mean getUser?"],
      ["mcp__users__getUser", "; did you mean getUser?"],
      ["-".repeat(200), ""]
    ] as const) {
      const [one, two] = [scripted("getUser"), scripted("get_user")]
      const model = yield* ScriptedModel.make(batch(name), done)
      const agent = Agent.make("worker", { tools: [one.tool, two.tool] })
      yield* run(agent, "go").pipe(Effect.provide(model.layer), Effect.orDie)
      assert.deepStrictEqual(read(model), [
        `told: unknown tool: ${name}; available tools: getUser, get_user${suggestion}`
      ])
      assert.deepStrictEqual([...one.runs, ...two.runs], [])
    }
  })
)

it.run("a name with the server's name before the tool's runs as the tool [P1342]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const search = Tool.make("search", {
      description: "Searches.",
      server: "git-hub",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.sync(() => `run ${++runs}`)
    })
    const model = yield* ScriptedModel.make(
      batch("github_search"),
      batch("git-hub.search"),
      batch("mcp__git-hub__search"),
      batch("gitlab_search"),
      done
    )
    yield* run(Agent.make("worker", { tools: [search] }), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      "result: run 1",
      "result: run 2",
      "result: run 3",
      "told: unknown tool: gitlab_search; available tools: search"
    ])
  })
)

it.run("a tool that is unsafe or needs approval is never guessed [P1342]", (run) =>
  Effect.gen(function* () {
    const unsafe = play("sendMail", { sideEffects: "unsafe" }, [Effect.succeed("sent")])
    const asked = scripted("readMail", Effect.succeed("read"))
    const agent = Agent.make("worker", { tools: [unsafe.tool, asked.tool.pipe(Tool.requireApproval())] })
    const model = yield* ScriptedModel.make(batch("send_mail"), batch("read_mail"), done)
    const approving = Approval.layer(() => Effect.succeed(Approval.approve))
    yield* run(agent, "go").pipe(Effect.provide([model.layer, approving]))
    assert.deepStrictEqual(read(model), [
      "told: unknown tool: send_mail; available tools: sendMail, readMail; did you mean sendMail?",
      "told: unknown tool: read_mail; available tools: sendMail, readMail; did you mean readMail?"
    ])
    assert.deepStrictEqual([...unsafe.runs, ...asked.runs], [])
  })
)

it.run("a policy sees both names [P1342 A515]", (run) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const agent = Agent.make("worker", { tools: [readFile().tool] }).pipe(
      Agent.toolPolicy(({ calledAs, tool }) => {
        seen.push([tool, calledAs])
        return ToolPolicy.allow
      })
    )
    const model = yield* ScriptedModel.make(batch("read_file"), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen, [["readFile", "read_file"]])
  })
)

it.run(
  "failures under a near name are the tool's: its rows recover them, and it is withheld with the tool [P1342]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("readFile", Effect.fail(busy()), Effect.fail(busy()))
      const agent = Agent.make("worker", {
        tools: [tool.pipe(Tool.onError({ Busy: Recovery.tell(() => "busy") }))],
        budget: { repeatedFailures: { hint: 2, withhold: 2, stop: 5 } }
      })
      const model = yield* ScriptedModel.make(batch("read_file"), batch("readFile"), batch("ReadFile"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.lengthOf(runs, 2)
      assert.deepStrictEqual(read(model).slice(2), [
        "denied: Tool 'readFile' failed too often in the same way and is not available in this turn. Try another way."
      ])
    })
)

it.run("a built-in tool too: it is settled first, and alone [P1342]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = readFile()
    const agent = Agent.make("worker", { tools: [tool, Tool.complete] })
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(
        ScriptedModel.call("readFile", {}, "c1"),
        ScriptedModel.call("functions.complete", { summary: "all done" }, "c2")
      )
    )
    const answer = yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(Completion.isCompletion(answer) && answer.summary, "all done")
    assert.deepStrictEqual(runs, [])
  })
)

it.effect("a suspended sub-agent that was called by a near name resumes [P1342]", () =>
  Effect.gen(function* () {
    const asked = scripted("pay", Effect.succeed("paid")).tool.pipe(Tool.requireApproval())
    const clerk = Agent.make("clerk", { tools: [asked] })
    const desk = Agent.make("desk", { tools: [Agent.asTool(clerk, { name: "askClerk", description: "Asks." })] })
    const calling = ScriptedModel.calls(ScriptedModel.call("ask_clerk", { input: "pay" }, "c1"))
    const outer = yield* ScriptedModel.make(calling, batch("pay"), ScriptedModel.text("paid for"), done)
    const from = yield* snapshotOf(yield* outcomeOf(desk, "go", outer))
    assert.deepInclude(yield* outcomeOf(Agent.resume(desk), deciding(from), outer), { _tag: "Completed" })
    assert.deepStrictEqual(read(outer), ["result: paid for"])
  })
)

it.run("calls under other names of one tool are calls of one tool in a row [P1342 A905]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("readFile", ...Array.from({ length: 3 }, () => Effect.succeed("text")))
    const names = ["readFile", "read_file", "functions.readFile", "ReadFile"]
    const model = yield* ScriptedModel.make(...names.map((name) => batch(name)))
    const agent = Agent.make("worker", { tools: [tool], budget: { maxConsecutiveSameTool: 3 } })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.deepInclude(error, { reason: "maxConsecutiveSameTool", limit: 3, spent: 4 })
    assert.lengthOf(runs, 3)
  })
)

it.run("the suggestion leaves out what stands before a name [P1342 P405]", (run) =>
  Effect.gen(function* () {
    for (const name of ["functions.pay", "shop.pay", "mcp__shop__pay", "shop:payy"]) {
      const pay = Tool.make("pays", {
        description: "Pays.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "unsafe",
        run: () => Effect.succeed("paid")
      })
      const model = yield* ScriptedModel.make(batch(name), done)
      yield* run(Agent.make("worker", { tools: [pay] }), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), [`told: unknown tool: ${name}; available tools: pays; did you mean pays?`])
    }
  })
)
