/** Tools whose server changes them while a run is at work: withheld, asked about, or offered anew. */
import { assert } from "@effect/vitest"
import { Approval, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { agentWith, done, eventLog, scripted, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { only, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { call, make } = ScriptedModel

const refusedAs = "Tool 'look' was not run: its server has changed what the tool is since it was offered."
const anew = `${refusedAs} Read its description, if you still have the tool, before you call it.`

/** A server with a tool in several versions; version 0 is none. */
const serverOf = (verdict: "refuse" | "ask" | "accept", { isNew = false, needsApproval = false } = {}) => {
  let version = 1
  const ran: Array<number> = []
  const accepted: Array<readonly [offered: string, now: string]> = []
  const toolOf = (of: number) =>
    Tool.make("look", {
      description: `Version ${of}.`,
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "none",
      run: () =>
        Effect.sync(() => {
          ran.push(of)
          return `seen ${of}`
        })
    })
  const gated = needsApproval ? toolOf(1).pipe(Tool.requireApproval({ reason: "it costs" })) : toolOf(1)
  const tool = Tool.pinned(gated as ReturnType<typeof toolOf>, {
    key: "desk/look",
    server: "desk",
    digest: "d1",
    now: Effect.sync(() =>
      version === 0 ? undefined : { digest: `d${version}`, tool: () => toolOf(version).definition }
    ),
    verdict: (offered, now) => (offered === now && !isNew ? "same" : verdict),
    change: (offered) => ({ server: "desk", ...(isNew ? {} : { before: offered }), after: `d${version}` }),
    accept: (offered, now) => Effect.sync(() => void accepted.push([offered, now]))
  })
  const becomes = (next: number) => void (version = next)
  return { accepted, becomes, ran, tool }
}

/** A model that calls the tool so many times; before each reply the server has the version that is next in the list. */
const calling = ({ becomes }: ReturnType<typeof serverOf>, versions: ReadonlyArray<number | undefined>) =>
  make(
    ...versions.map((version, index) =>
      ScriptedModel.answers(() =>
        Effect.sync(() => {
          if (version !== undefined) becomes(version)
          return ScriptedModel.reply({ content: [call("look", {}, `c${index}`)], finish: "tool-calls" })
        })
      )
    ),
    done
  )

const offeredIn = ({ requests }: ScriptedModel.ScriptedModel) =>
  requests.map(({ tools }) => tools.map(({ description }) => description))

const changesOf = (log: ReturnType<typeof eventLog>) =>
  only(log.all, "tool-changed").map(({ action, after, before, server, tool }) => [tool, server, action, before, after])

it.run("a tool that its server has not changed is offered and run, with no event [P1548]", (run) =>
  Effect.gen(function* () {
    for (const verdict of ["refuse", "ask", "accept"] as const) {
      const server = serverOf(verdict)
      const log = eventLog()
      const model = yield* calling(server, [undefined, undefined])
      yield* run(agentWith(server.tool).pipe(log.listen), "go").pipe(
        Effect.provide([model.layer, Approval.layer(() => Effect.die("asked"))])
      )
      assert.deepStrictEqual(server.ran, [1, 1])
      assert.deepStrictEqual(offeredIn(model), [["Version 1."], ["Version 1."], ["Version 1."]])
      assert.deepStrictEqual(changesOf(log), [])
    }
  })
)

it.run("with `refuse` a changed tool runs no more, and is offered no more, with one event [P1548]", (run) =>
  Effect.gen(function* () {
    const server = serverOf("refuse")
    const log = eventLog()
    const model = yield* calling(server, [undefined, 2, undefined])
    yield* run(agentWith(server.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(server.ran, [1])
    assert.deepStrictEqual(offeredIn(model), [["Version 1."], ["Version 1."], [], []])
    const said = settlements(model.requests.at(-1)?.messages ?? [])
    assert.deepStrictEqual(said, ["result: seen 1", ...[1, 2].map(() => `denied: ${refusedAs} Try another way.`)])
    assert.deepStrictEqual(changesOf(log), [["look", "desk", "refuse", "d1", "d2"]])
  })
)

it.run("a tool that its server no longer has is withheld, with an event that names no digest [P1548]", (run) =>
  Effect.gen(function* () {
    const server = serverOf("accept")
    const log = eventLog()
    const model = yield* calling(server, [0, undefined])
    yield* run(agentWith(server.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(server.ran, [])
    assert.deepStrictEqual(offeredIn(model), [["Version 1."], [], []])
    const gone = "denied: Tool 'look' was not run: its server no longer has it. Try another way."
    assert.deepStrictEqual(settlements(model.requests.at(-1)?.messages ?? []), [gone, gone])
    const [event] = only(log.all, "tool-changed")
    assert(event !== undefined)
    assert.deepStrictEqual([event.action, event.before, "after" in event], ["refuse", "d1", false])
    assert.lengthOf(only(log.all, "tool-changed"), 1)
  })
)

it.run(
  "with `accept` the next turn offers the new definition, once the model has read it the call runs [P1548]",
  (run) =>
    Effect.gen(function* () {
      const server = serverOf("accept")
      const log = eventLog()
      // the second call is about what the model has not read yet
      const model = yield* calling(server, [undefined, 2, undefined, 3, undefined])
      yield* run(agentWith(server.tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        offeredIn(model).flat(),
        [1, 1, 2, 2, 3, 3].map((version) => `Version ${version}.`)
      )
      // what runs is not defined by the server
      assert.deepStrictEqual(server.ran, [1, 1, 1])
      assert.deepStrictEqual(
        settlements(model.requests.at(-1)?.messages ?? []).map((text) => text === `denied: ${anew}`),
        [false, true, false, true, false]
      )
      assert.deepStrictEqual(changesOf(log), [
        ["look", "desk", "accept", "d1", "d2"],
        ["look", "desk", "accept", "d2", "d3"]
      ])
    })
)

it.run(
  "with `ask` a person sees both definitions before the call runs, and accepts the new one with it [P1548]",
  (run) =>
    Effect.gen(function* () {
      for (const needsApproval of [false, true]) {
        const server = serverOf("ask", { needsApproval })
        const log = eventLog()
        const requests: Array<Approval.ApprovalRequest> = []
        const layer = Approval.layer((request) =>
          Effect.sync(() => {
            requests.push(request)
            return Approval.approve
          })
        )
        const model = yield* calling(server, [undefined, 2, undefined])
        yield* run(agentWith(server.tool).pipe(log.listen), "go").pipe(Effect.provide([model.layer, layer]))
        const reason = "The server 'desk' has changed the definition of this tool"
        const ofChange = requests.filter(({ change }) => change !== undefined)
        assert.deepStrictEqual(
          ofChange.map(({ change, reason }) => [{ ...change }, reason]),
          [[{ server: "desk", before: "d1", after: "d2" }, needsApproval ? `it costs; ${reason}` : reason]]
        )
        assert.lengthOf(requests, needsApproval ? 2 : 1)
        assert.deepStrictEqual(server.accepted, [["d1", "d2"]])
        assert.deepStrictEqual(
          offeredIn(model).flat(),
          [1, 1, 2, 2].map((version) => `Version ${version}.`)
        )
        assert.deepStrictEqual(changesOf(log), [["look", "desk", "ask", "d1", "d2"]])
      }
    })
)

it.run(
  "a new tool that a person has to accept is asked about in its first call, with no event of a change [P1548]",
  (run) =>
    Effect.gen(function* () {
      const server = serverOf("ask", { isNew: true })
      const log = eventLog()
      const reasons: Array<string> = []
      const layer = Approval.layer(({ reason }) =>
        Effect.sync(() => {
          reasons.push(reason)
          return Approval.approve
        })
      )
      const model = yield* calling(server, [undefined])
      yield* run(agentWith(server.tool).pipe(log.listen), "go").pipe(Effect.provide([model.layer, layer]))
      assert.deepStrictEqual([reasons, server.ran], [["The server 'desk' has a new tool"], [1]])
      assert.deepStrictEqual([server.accepted, changesOf(log)], [[["d1", "d1"]], []])
    })
)

it.run(
  "a refused change runs nothing and accepts nothing; a change after the approval denies the call [P1548]",
  (run) =>
    Effect.gen(function* () {
      const refused = serverOf("ask")
      const first = yield* calling(refused, [2, undefined])
      yield* run(agentWith(refused.tool), "go").pipe(
        Effect.provide([first.layer, Approval.layer(() => Effect.succeed(Approval.refuse("not this one")))])
      )
      assert.deepStrictEqual([refused.ran, refused.accepted], [[], []])
      assert.include(settlements(first.requests.at(-1)?.messages ?? [])[1], "not this one")

      const moving = serverOf("ask")
      const second = yield* calling(moving, [2, undefined])
      const approving = Approval.layer(() =>
        Effect.sync(() => {
          moving.becomes(3)
          return Approval.approve
        })
      )
      yield* run(agentWith(moving.tool), "go").pipe(Effect.provide([second.layer, approving]))
      assert.deepStrictEqual(moving.ran, [])
      assert.include(settlements(second.requests.at(-1)?.messages ?? [])[1], anew)
    })
)

it.run("a refusal stays one, even if the server has changed the tool meanwhile [P1548]", (run) =>
  Effect.gen(function* () {
    const server = serverOf("ask", { needsApproval: true })
    const model = yield* calling(server, [undefined])
    let asked = 0
    const layer = Approval.layer(() =>
      Effect.sync(() => {
        asked++
        server.becomes(2)
        return Approval.refuse("not today")
      })
    )
    yield* run(agentWith(server.tool), "go").pipe(Effect.provide([layer, model.layer]))
    assert.deepStrictEqual([asked, server.ran], [1, []])
    assert.deepStrictEqual(settlements(model.requests.at(-1)?.messages ?? []), [
      "denied: The call of tool 'look' was denied and not run: not today"
    ])
  })
)

it.run("a run whose tool has changed before its first turn begins with the current definition [P1547]", (run) =>
  Effect.gen(function* () {
    const server = serverOf("accept")
    server.becomes(2)
    const model = yield* calling(server, [undefined])
    yield* run(agentWith(server.tool), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(offeredIn(model).flat(), ["Version 2.", "Version 2."])
  })
)

it.run("of several tools, those that a server may change are looked at, in any order [P1548]", (run) =>
  Effect.gen(function* () {
    for (const isFirst of [true, false]) {
      const server = serverOf("refuse")
      const { tool: plain } = scripted("plain")
      const model = yield* calling(server, [undefined, 2])
      const agent = isFirst ? agentWith(server.tool, plain) : agentWith(plain, server.tool)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      const both = isFirst ? ["Version 1.", "The tool plain."] : ["The tool plain.", "Version 1."]
      assert.deepStrictEqual(offeredIn(model), [both, both, ["The tool plain."]])
      assert.deepStrictEqual(server.ran, [1])
    }
  })
)

it.effect("a request for approval is about the version that its server has [P1548]", () =>
  Effect.gen(function* () {
    const schemaOf = (tool: Tool.AnyTool) =>
      Effect.gen(function* () {
        const model = yield* make(ScriptedModel.calls(call("look", {}, "c0")))
        const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
        return Snapshot.requestsOf(from)[0]?.schema
      })
    const server = serverOf("accept", { needsApproval: true })
    const first = yield* schemaOf(server.tool)
    server.becomes(2)
    // the parameters are the same in both
    assert.notStrictEqual(yield* schemaOf(server.tool), first)
  })
)
