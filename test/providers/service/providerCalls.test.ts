/** Calls that the provider declares itself, and the tools that answer them: `Tool.provider`. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Skill, Snapshot, Tool } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import { Anthropic, OpenAi } from "@kintsugi/providers"
import { Effect, Layer, Redacted, type Schema } from "effect"
import { it } from "../../_support/run.ts"
import { event, failureOf, fakeNetwork, key, respond } from "../../_support/network.ts"
import { type Block, message as claude, streamed } from "../_support/anthropicMessages.ts"
import { events, type Item, message, reasoning, response } from "../codec/openai-responses/_support/responses.ts"

const apiKey = Redacted.make(key)

const written = (all: ReadonlyArray<unknown>) => all.map((one) => event(one as Item)).join("")

/** A model that gives these responses, and what it was sent. */
const playing = (isStreamed: boolean, ...outputs: ReadonlyArray<ReadonlyArray<Item>>) => {
  const network = fakeNetwork(
    outputs.map((output) => respond(200, isStreamed ? written(events(response(output))) : response(output)))
  )
  const model = Layer.provide(OpenAi.layerResponses({ model: "m", apiKey }), network.layer)
  /** What a request has beyond the user's message. */
  const inputOf = (at: number) => JSON.parse(network.sent[at]?.body ?? "{}").input.slice(1)
  return { ...network, inputOf, model }
}

const agentOf = <const T extends ReadonlyArray<Tool.AnyTool>>(...tools: T) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools })] })

const done = [message("Done.")]

const image = { type: "computer_screenshot", image_url: "https://shots.example/1.png" }

/** The item of a call, what its tool gives, and what goes back. */
const kinds: ReadonlyArray<readonly [Item, Schema.Json, Item]> = [
  [
    { type: "computer_call", actions: [{ type: "click", x: 1, y: 2 }], current_url: "https://shop.example" },
    { output: image, acknowledged_safety_checks: [] },
    { type: "computer_call_output", output: image, acknowledged_safety_checks: [] }
  ],
  [{ type: "computer_call", actions: [] }, image, { type: "computer_call_output", output: image }],
  [
    { type: "shell_call", action: { commands: ["ls"] }, environment: { type: "local" } },
    [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
    { type: "shell_call_output", output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }] }
  ],
  [
    { type: "shell_call", action: { commands: ["ls"] } },
    "a b",
    { type: "shell_call_output", output: [{ stdout: "a b", stderr: "", outcome: { type: "exit", exit_code: 0 } }] }
  ],
  [
    { type: "local_shell_call", action: { type: "exec", command: ["ls"] } },
    "a b",
    { type: "local_shell_call_output", output: "a b" }
  ],
  [
    { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
    { status: "failed", output: "no such file" },
    { type: "apply_patch_call_output", status: "failed", output: "no such file" }
  ],
  [
    { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
    "gone",
    { type: "apply_patch_call_output", status: "completed", output: "gone" }
  ],
  [
    { type: "custom_tool_call", name: "sql", input: "select 1" },
    '{"rows":1}',
    { type: "custom_tool_call_output", output: '{"rows":1}' }
  ],
  [
    { type: "tool_search_call", arguments: { query: "weather" }, execution: "client" },
    { tools: [{ type: "function", name: "weather" }], execution: "client" },
    { type: "tool_search_output", tools: [{ type: "function", name: "weather" }], execution: "client" }
  ],
  [{ type: "form_call", fields: ["name"] }, { name: "Ada" }, { type: "form_call_output", output: { name: "Ada" } }]
]

for (const [fields, result, back] of kinds) {
  const kind = String(fields["type"])
  it.run(
    `a '${kind}' is a call of its tool, and ${JSON.stringify(result)} goes back as '${back["type"]}' [P1406]`,
    (run) =>
      Effect.gen(function* () {
        const seen: Array<Schema.JsonObject> = []
        const tool = Tool.provider(kind, (asked) => Effect.sync(() => (seen.push(asked), result)))
        const item: Item = { ...fields, id: "i1", call_id: "c1", status: "completed" }
        const thought = reasoning("rs_1", "I act.")
        const { inputOf, model, sent } = playing(run.isStreamed, [thought, item], done)
        assert.strictEqual(yield* run(agentOf(tool), "go").pipe(Effect.provide(model)), "Done.")
        const { type: _, ...asked } = fields
        assert.deepStrictEqual(seen, [asked])
        assert.deepStrictEqual(inputOf(1), [thought, item, { ...back, call_id: "c1" }])
        assert.notProperty(JSON.parse(sent[0]?.body ?? "{}"), "tools")
      })
  )
}

/** What goes back for a call that has failed; `undefined` where only a message can say it. */
const failures: ReadonlyArray<readonly [string, Item | undefined]> = [
  ["custom_tool_call", { type: "custom_tool_call_output", output: "ERROR: no" }],
  ["local_shell_call", { type: "local_shell_call_output", output: "ERROR: no" }],
  [
    "shell_call",
    {
      type: "shell_call_output",
      output: [{ stdout: "", stderr: "ERROR: no", outcome: { type: "exit", exit_code: 1 } }]
    }
  ],
  ["apply_patch_call", { type: "apply_patch_call_output", status: "failed", output: "ERROR: no" }],
  ["tool_search_call", { type: "tool_search_output", tools: [], execution: "client" }],
  ["computer_call", undefined]
]

for (const [kind, back] of failures) {
  it.run(`a '${kind}' that fails goes back as a failure, by the rows of its tool [P1406]`, (run) =>
    Effect.gen(function* () {
      const tool = Tool.provider(kind, () => Effect.fail("no")).pipe(
        Tool.onError({ orElse: Recovery.tell(() => "no") })
      )
      const item: Item = { type: kind, id: "i1", call_id: "c1", status: "completed" }
      const thought = reasoning("rs_1", "I act.")
      const { inputOf, model } = playing(run.isStreamed, [thought, item], done)
      assert.strictEqual(yield* run(agentOf(tool), "go").pipe(Effect.provide(model)), "Done.")
      assert.deepStrictEqual(
        inputOf(1),
        back === undefined
          ? [{ role: "user", content: "computer_call: ERROR: no" }]
          : [thought, item, { ...back, call_id: "c1" }]
      )
    })
  )
}

it.run("a screenshot is also an image of Tool.parts [P1406]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.provider("computer_call", () => Effect.succeed("iVBORw0KGgo=")).pipe(
      Tool.parts((data) => [Message.image("image/png", { data: String(data) })])
    )
    const { inputOf, model } = playing(run.isStreamed, [{ type: "computer_call", id: "i1", call_id: "c1" }], done)
    yield* run(agentOf(tool), "go").pipe(Effect.provide(model))
    const output = { type: "computer_screenshot", image_url: "data:image/png;base64,iVBORw0KGgo=" }
    assert.deepStrictEqual(inputOf(1)[1], { type: "computer_call_output", call_id: "c1", output })
  })
)

it.run("equal ids of two turns go back as two, each with its answer [P1406]", (run) =>
  Effect.gen(function* () {
    const item: Item = { type: "custom_tool_call", id: "i1", call_id: "c1", name: "sql", input: "x" }
    const tool = Tool.provider("custom_tool_call", () => Effect.succeed("ok"))
    const { inputOf, model } = playing(run.isStreamed, [item], [item], done)
    yield* run(agentOf(tool), "go").pipe(Effect.provide(model))
    const ids = (inputOf(2) as ReadonlyArray<Item>).map((one) => one["call_id"])
    assert.deepStrictEqual(ids, ["c1", "c1", "c1_2", "c1_2"])
  })
)

it.run("a call that waits beside one that its tool answers still ends the run by name [P1406]", (run) =>
  Effect.gen(function* () {
    let runs = 0
    const tool = Tool.provider("custom_tool_call", () => Effect.sync(() => `${++runs}`))
    const shell = { type: "shell_call", id: "i2", call_id: "c2" }
    const { model } = playing(run.isStreamed, [{ type: "custom_tool_call", id: "i1", call_id: "c1" }, shell])
    const error = failureOf(yield* Effect.exit(run(agentOf(tool), "go").pipe(Effect.provide(model))))
    assert.instanceOf(error, LlmError.CapabilityMismatchError)
    assert.strictEqual(error.detail, "shell_call")
    assert.strictEqual(runs, 0)
  })
)

it.run("what a container of the provider runs is no call of a tool [P1406]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.provider("shell_call", () => Effect.die("not to be run"))
    const environment = { type: "container_reference", container_id: "k1" }
    const shell = { type: "shell_call", id: "i1", call_id: "c1", environment }
    const output = { type: "shell_call_output", id: "o1", call_id: "c1", output: [] }
    const { model } = playing(run.isStreamed, [shell, output, ...done])
    assert.strictEqual(yield* run(agentOf(tool), "go").pipe(Effect.provide(model)), "Done.")
  })
)

const asked: Item = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  server_label: "shop",
  name: "buy",
  arguments: '{"n":1}'
}

/** The approval of the request with some fields edited. */
const approvedWith = (fields: Item) =>
  Approval.approveWith({ server_label: "shop", name: "buy", arguments: '{"n":1}', ...fields })

const decisions: ReadonlyArray<readonly [string, Approval.Decision, Item]> = [
  ["approved", Approval.approve, { approve: true }],
  ["approved in another spelling", approvedWith({ arguments: '{ "n": 1.0 }' }), { approve: true }],
  ["approved with a part of its fields", Approval.approveWith({ name: "buy" }), { approve: true }],
  ["refused", Approval.refuse("too dear"), { approve: false, reason: "too dear" }],
  [
    "approved with other arguments",
    approvedWith({ arguments: '{"n":2}' }),
    { approve: false, reason: 'Call it with {"arguments":"{\\"n\\":2}"}' }
  ],
  [
    "approved under another name",
    approvedWith({ name: "refund", arguments: '{ "n": 1 }' }),
    { approve: false, reason: 'Call it with {"name":"refund"}' }
  ],
  [
    "approved under a quoted name",
    approvedWith({ name: '"buy"' }),
    { approve: false, reason: 'Call it with {"name":"\\"buy\\""}' }
  ],
  [
    "approved at another server",
    approvedWith({ server_label: "mall" }),
    { approve: false, reason: 'Call it with {"server_label":"mall"}' }
  ]
]

for (const [what, decision, answer] of decisions) {
  const back = { type: "mcp_approval_response", approval_request_id: "mcpr_1", ...answer }

  it.run(`a call of an MCP server of the provider is ${what} by the approver of the run [P1406]`, (run) =>
    Effect.gen(function* () {
      const requests: Array<Approval.ApprovalRequest> = []
      const approver = Approval.layer((request) => Effect.sync(() => (requests.push(request), decision)))
      const { inputOf, model } = playing(run.isStreamed, [asked], done)
      const agent = agentOf(Tool.provider("mcp_approval_request"))
      yield* run(agent, "go").pipe(Effect.provide(approver), Effect.provide(model))
      assert.strictEqual(requests.length, 1)
      assert.deepInclude(requests[0], {
        tool: "mcp_approval_request",
        callId: "mcpr_1",
        arguments: { server_label: "shop", name: "buy", arguments: '{"n":1}' }
      })
      const [item, response] = inputOf(1)
      assert.deepStrictEqual(item, asked)
      assert.deepInclude(response, { ...back, ...(answer["reason"] === "too dear" ? { reason: response.reason } : {}) })
      assert.include(response.reason ?? "too dear", answer["reason"] === undefined ? "too dear" : answer["reason"])
    })
  )

  it.effect(
    `a run that waits for the approval of such a call is suspended, and goes on when it is ${what} [P1406]`,
    () =>
      Effect.gen(function* () {
        const agent = agentOf(Tool.provider("mcp_approval_request"))
        const first = playing(false, [asked])
        const run = yield* agent.start("go").pipe(Effect.provide(first.model))
        const outcome = yield* run.outcome
        assert(outcome._tag === "Suspended")
        const from = yield* Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(outcome.snapshot))))
        const [request] = Snapshot.requestsOf(from)
        assert.strictEqual(request?.tool, "mcp_approval_request")
        const second = playing(false, done)
        const decided = { from, decisions: [{ digest: request?.digest ?? "", decision }] }
        const resumed = yield* Agent.resume(agent).start(decided).pipe(Effect.provide(second.model))
        const ended = yield* resumed.outcome
        assert(ended._tag === "Completed")
        const [item, response] = second.inputOf(0)
        assert.deepStrictEqual(item, asked)
        assert.deepInclude(response, { type: back.type, approval_request_id: "mcpr_1", approve: answer["approve"] })
      })
  )
}

it.run("a request without arguments is approved, and with arguments it is another [P1406]", (run) =>
  Effect.gen(function* () {
    const { arguments: _, ...bare } = asked
    const both: ReadonlyArray<readonly [Approval.Decision, boolean]> = [
      [Approval.approve, true],
      [approvedWith({}), false]
    ]
    for (const [decision, isApproved] of both) {
      const { inputOf, model } = playing(run.isStreamed, [bare], done)
      const agent = agentOf(Tool.provider("mcp_approval_request"))
      const approver = Approval.layer(() => Effect.succeed(decision))
      yield* run(agent, "go").pipe(Effect.provide(approver), Effect.provide(model))
      assert.deepInclude(inputOf(1)[1], { approval_request_id: "mcpr_1", approve: isApproved })
    }
  })
)

it.run("a tool that Anthropic declares is answered by the tool of its name [P1406]", (run) =>
  Effect.gen(function* () {
    const use: Block = { type: "tool_use", id: "t1", name: "bash", input: { command: "ls" } }
    const say = (content: ReadonlyArray<Block>, reason: string) =>
      respond(200, run.isStreamed ? written(streamed(content, reason)) : claude(content, reason))
    const modelOf = (network: ReturnType<typeof fakeNetwork>) =>
      Layer.provide(
        Anthropic.layer({ model: "m", apiKey, providerTools: [{ type: "bash_20250124", name: "bash" }] }),
        network.layer
      )
    const network = fakeNetwork([say([use], "tool_use"), say([{ type: "text", text: "Done." }], "end_turn")])
    const tool = Tool.provider("bash", ({ command }) => Effect.succeed(`ran ${String(command)}`))
    assert.strictEqual(yield* run(agentOf(tool), "go").pipe(Effect.provide(modelOf(network))), "Done.")
    const { messages, tools } = JSON.parse(network.sent[1]?.body ?? "{}")
    assert.deepStrictEqual(tools, [{ type: "bash_20250124", name: "bash" }])
    assert.deepStrictEqual(messages.slice(1), [
      { role: "assistant", content: [use] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "ran ls" }] }
    ])
    const alone = fakeNetwork([say([use], "tool_use")])
    const error = failureOf(yield* Effect.exit(run(agentOf(), "go").pipe(Effect.provide(modelOf(alone)))))
    assert.instanceOf(error, LlmError.CapabilityMismatchError)
    assert.strictEqual(error.detail, "bash")
  })
)
