/** What users can import: how many names, each once. `packaging.process.test.ts` holds the hidden names against emitted declarations. */
import { assert, describe, it } from "vitest"
import { isListed, type Name, namesOf } from "../../scripts/exports.ts"
import { type Module, modules } from "../../scripts/modules.ts"
import { exportsOf, packages } from "../../scripts/packages.ts"

interface Public extends Name {
  readonly module: Module
}

/** Each name that a program can import, with its module. */
const names: ReadonlyArray<Public> = modules.flatMap((module) =>
  namesOf(module.path).flatMap((name) => (name.isInternal ? [] : [{ ...name, module }]))
)

const isForTests = ({ module }: Public): boolean => module.title.includes("/testing/")

const isMain = (name: Public): boolean =>
  /^@kintsugi\/(?:core|providers)\//.test(name.module.title) && !isForTests(name)

/** The names that occur more than once by a key, each with where it does. */
const doubled = (all: ReadonlyArray<Public>, key: (name: Public) => string): ReadonlyArray<string> => {
  return [...Map.groupBy(all, key)].flatMap(([name, found]) =>
    found.length === 1 ? [] : [`${name}: ${found.map(({ module, name }) => `${module.title}.${name}`).join(", ")}`]
  )
}

/** Names that came with a feature, by what they are for: the limits are about the others. */
const added: Readonly<Record<string, string>> = {
  "Agent.Checked": "what the check of a guardrail sees",
  "Agent.guard": "what such a check decides",
  "Agent.guardInput": "a check of what the user says",
  "Agent.guardOutput": "a check of what the model says",
  "Agent.onGuardrail": "what becomes of a text that was blocked",
  "Agent.withRunId": "a caller gives the id of a run",
  "Agent.prepareTurn": "what a turn is made with",
  "Agent.Turn": "a turn that is about to begin",
  "Approval.Approvals": "keeps the grants of conversations",
  "Approval.Conversation": "names the conversation of a run",
  "Approval.Grant": "an approval of more than one call",
  "Approval.approvalsOfProcess": "the limits of the store in memory",
  "Approval.DecisionReceipt": "whether a decision counts",
  "Approval.result": "a person gives the result of a failed call",
  "Budget.costOf": "what tokens cost",
  "Model.compose": "a function chooses among models",
  "Recovery.ask": "a person as a rung",
  "Tool.retired": "a removed tool settles its earlier calls",
  "Tool.provider": "a tool answers calls that the provider declares",
  "Tool.ResultStore": "where long results are put aside",
  "Tool.PutAside": "the type of what that gives",
  "Tool.putAside": "how long a result may be before it is put aside",
  "LlmError.ReplyTooLargeError": "a reply is larger than a limit admits",
  "ToolError.ApprovalExpiredError": "no decision came in time",
  "Approval.approveFor": "a person approves more than one call",
  "Agent.compactAt": "a conversation is shortened before it is too long",
  "Budget.LimitAction": "the type of what happens at a limit",
  "Budget.answer": "a run at its limit answers in one last turn",
  "Cursor.merge": "fewer events with the same meaning, for what keeps them",
  "Cursor.of": "the text of a cursor",
  "Cursor.read": "what a cursor names",
  "DoorError.CursorExpiredError": "what a reader missed is gone",
  "DoorError.InboxFullError": "a run takes no further message just now",
  "DoorError.RunOverError": "a run takes no message any more",
  "Message.SaidMessage": "what a run has not read",
  "RunError.GuardrailError": "a guardrail has blocked a text",
  "RunError.UnknownPriceError": "maxCost needs the price of a model",
  "Snapshot.Waiting": "one thing that a run waits for",
  "Snapshot.waitingOf": "what a suspended run waits for",
  "Bedrock.Credentials": "a key of AWS",
  "Bedrock.Options": "what Bedrock is asked with",
  "Bedrock.layer": "Bedrock's Converse",
  "Bedrock.model": "Bedrock's Converse, by name",
  "OpenAiCompatible.Host": "a host as data",
  "OpenAiCompatible.Options": "what a host is asked with",
  "OpenAiCompatible.hosts": "the hosts that are known",
  "OpenAiCompatible.layer": "chat completions of a host",
  "OpenAiCompatible.layerResponses": "responses of a host",
  "OpenAiCompatible.model": "chat completions of a host, by name",
  "OpenAiCompatible.responses": "responses of a host, by name",
  "Anthropic.layerConfig": "Anthropic, with options from the configuration",
  "Bedrock.layerConfig": "Bedrock, with options from the configuration",
  "DeepSeek.layerConfig": "DeepSeek, with options from the configuration",
  "Gemini.layerConfig": "Gemini, with options from the configuration",
  "Kimi.layerConfig": "Kimi, with options from the configuration",
  "Ollama.layerConfig": "Ollama, with options from the configuration",
  "OpenAi.layerConfig": "OpenAI, with options from the configuration",
  "OpenAi.layerResponsesConfig": "OpenAI's responses, with options from the configuration",
  "OpenAiCompatible.layerConfig": "chat completions of a host, with options from the configuration",
  "OpenAiCompatible.layerResponsesConfig": "responses of a host, with options from the configuration",
  "OpenRouter.layerConfig": "OpenRouter, with options from the configuration",
  "Perplexity.layerConfig": "Perplexity, with options from the configuration",
  "Tool.onDemand": "tools that requests do not list",
  "Tool.callOf": "the tool that a call of call_tool means",
  "Tool.Search": "what finds such tools",
  "Tool.deferred": "a tool that ends later",
  "Tool.digestOf": "the digest of a definition, for pins",
  "Tool.parts": "images and files in the results of a tool",
  "Tool.pinned": "a tool whose server may change it",
  "Model.withUsage": "a failure of a model, with the tokens that count for it",
  "Usage.add": "the sum of two usages",
  "Transport.layerUndici": "longer limits of time, proxies, certificates and pools on Node",
  "Tool.settle": "what ends the call of a tool that ends later"
}

/** The same for the other packages. */
const addedElsewhere: Readonly<Record<string, string>> = {
  "ConversationEntity.ConversationBusyError": "a queue that is full",
  "ConversationEntity.ConversationEntity": "conversations with a durable agent",
  "ConversationEntity.ConversationTurn": "what such an agent answers",
  "ConversationEntity.MessageState": "what has become of a message",
  "ConversationEntity.Queued": "a message that waits",
  "ConversationEntity.UnansweredError": "a message without an answer",
  "ConversationEntity.UnknownMessageError": "no such message waits",
  "ConversationEntity.answer": "waits for an answer",
  "ConversationEntity.edit": "changes a message that waits",
  "ConversationEntity.interrupt": "stops the run of a conversation",
  "ConversationEntity.layerMemory": "a cluster for tests",
  "ConversationEntity.make": "an entity for each conversation",
  "ConversationEntity.queued": "what waits",
  "ConversationEntity.say": "steers the run of a conversation",
  "ConversationEntity.send": "a message to a conversation",
  "ConversationEntity.state": "asks what has become of a message",
  "ConversationEntity.turn": "the schema of the input of such an agent",
  "ConversationEntity.withdraw": "takes a message out of the queue",
  "Conversations.ConflictError": "another writer was first",
  "Conversations.ConversationLimitError": "what a store does not take",
  "Conversations.ConversationStoreError": "a storage that fails",
  "Conversations.Conversation": "a page of a conversation",
  "Conversations.Conversations": "the store of conversations",
  "Conversations.EncryptionKey": "a key for conversations at rest",
  "Conversations.Head": "a conversation without its messages",
  "Conversations.Key": "the key of a document",
  "Conversations.ListPosition": "where a conversation is in the list",
  "Conversations.Store": "what a store of conversations does",
  "Conversations.StoreLimits": "the limits of such a store",
  "Conversations.UnknownConversationError": "a conversation of another subject, or none",
  "Conversations.layerApprovals": "grants as documents of conversations",
  "Conversations.layerEncryption": "conversations at rest",
  "Conversations.layerKeyValueStoreOfProcess": "conversations in a KeyValueStore, for one process",
  "Conversations.layerMemory": "conversations for tests",
  "Conversations.layerResults": "long results as documents of conversations",
  "Conversations.layerSql": "conversations in tables",
  "ExecutionPlans.fromFallback": "a fallback as a plan of Effect",
  "ExecutionPlans.toModel": "a plan of Effect as a model",
  "RateLimits.layerSql": "rate limits in a table",
  "ReplyCache.CacheOptions": "what a cache of replies may do",
  "ReplyCache.layer": "a cache of replies before a model",
  "SharedBudget.BudgetPeriod": "a budget in one of its periods",
  "SharedBudget.BudgetReservation": "what a call has reserved",
  "SharedBudget.BudgetSpending": "what is spent and reserved",
  "SharedBudget.BudgetStore": "what a storage of shared budgets does",
  "SharedBudget.SharedBudgetExceededError": "why a call did not fit",
  "SharedBudget.SharedBudgets": "the storage of shared budgets",
  "SharedBudget.SharedLimit": "the limit of a shared budget",
  "SharedBudget.layer": "a shared budget before a model",
  "SharedBudget.layerMemory": "shared budgets for tests",
  "SharedBudget.layerSql": "shared budgets in a table",
  "SharedBudget.spending": "what a shared budget has spent",
  "ResultStores.layerKeyValueStore": "long results in a KeyValueStore",
  "ResultStores.layerSql": "long results in a table",
  "RunQueue.layerWorker": "takes durable runs from a queue",
  "RunQueue.put": "a durable run in a queue",
  "Durable.events": "what a reader in any process reads of a durable run",
  "Durable.interrupt": "what stops a durable run",
  "Durable.layerMemory": "an engine for tests",
  "Durable.layerPglite": "an engine without a server",
  "Durable.layerPostgres": "an engine for one and many processes",
  "Durable.FolderInUseError": "a folder has one process",
  "Durable.say": "a person says something to a durable run",
  "Durable.unread": "what a durable run has not read",
  "Durable.settle": "what ends such a call of a durable run",
  "Arbitraries.faultPlan": "a fault at any step",
  "Arbitraries.limits": "limits of a run",
  "Arbitraries.modelError": "errors of a model",
  "Arbitraries.modelTurns": "what a model does, turn by turn",
  "Arbitraries.toolCall": "a call of some tool",
  "ScriptedModel.ModelTurn": "one turn of a model as data",
  "ScriptedModel.playing": "a model that plays such turns",
  "ScriptedModel.makeNamed": "the models of a fallback are told apart",
  "Fault.gate": "a stream that is held until a test lets it go on",
  "ScriptedApprover.after": "a decision with a delay",
  "ScriptedApprover.make": "an approver that plays a script",
  "AiSdkModel.CallOptions": "what each version of these is called with",
  "AiSdkModel.LanguageModel": "what that takes",
  "AiSdkModel.layer": "language models of the AI SDK",
  "ApiError.ApiError": "how an answer of an API fails",
  "HttpApiTools.fromApi": "the endpoints of an API as tools",
  "HttpApiTools.fromGroup": "the endpoints of one group as tools",
  "DocumentTools.ApiDocumentError": "why an operation of a document is no tool",
  "DocumentTools.OperationTool": "such a tool",
  "DocumentTools.OperationTools": "what is made of a document",
  "DocumentTools.Options": "what a document may do",
  "DocumentTools.fromDocument": "the operations of a document as tools",
  "RpcTools.Options": "what a group may do",
  "RpcTools.fromGroup": "the procedures of a group as tools",
  "EventStream.answer": "a reader of a run over HTTP",
  "AgentProxy.AgentProxy": "what server and clients of an agent share",
  "AgentProxy.AgentRuns": "the runs behind the endpoints of an agent",
  "AgentProxy.Ending": "where a run has ended or waits",
  "AgentProxy.ProxyEvent": "an event of a run for its clients",
  "AgentProxy.Reading": "requests that do not fit",
  "AgentProxy.RequestTooLargeError": "413",
  "AgentProxy.RunConflictError": "409",
  "AgentProxy.RunFailedError": "the statuses of runs that fail",
  "AgentProxy.RunNotFoundError": "404",
  "AgentProxy.RunsOf": "these runs in a context",
  "AgentProxy.Subject": "whose request it is",
  "AgentProxy.TooBusyError": "429",
  "AgentProxy.UnauthorizedError": "401",
  "AgentProxy.UnfitRequestError": "422",
  "AgentProxy.make": "makes the contract of an agent",
  "AgentProxy.toHttpApiGroup": "an agent as endpoints",
  "AgentProxy.toRpcGroup": "an agent as procedures",
  "AgentProxyServer.layerHttpApi": "serves these endpoints",
  "AgentProxyServer.layerRpcHandlers": "serves these procedures",
  "AgentRuns.SuspendedRuns": "the store of runs that wait",
  "AgentRuns.layerMemory": "runs in a process",
  "AgentRuns.layerSuspendedMemory": "runs that wait, in memory",
  "ConversationProxy.ConversationConflictError": "409 of a conversation",
  "ConversationProxy.ConversationNotFoundError": "404 of a conversation",
  "ConversationProxy.ConversationProxy": "what server and clients of conversations share",
  "ConversationProxy.HistoryPage": "a page of what was said",
  "ConversationProxy.MessageProgress": "what has become of a message",
  "ConversationProxy.QueuedMessage": "a message that waits",
  "ConversationProxy.make": "makes the contract of conversations",
  "ConversationProxy.toHttpApiGroup": "conversations as endpoints",
  "ConversationProxy.toRpcGroup": "conversations as procedures",
  "ConversationProxyServer.layerHttpApi": "serves these endpoints of conversations",
  "ConversationProxyServer.layerRpcHandlers": "serves these procedures of conversations",
  "Conversations.ExportLine": "a line of an export",
  "DurableRuns.layer": "durable runs behind the same endpoints",
  "DurableRuns.layerSuspended": "runs that wait, as documents of conversations",
  "Comparison.Comparison": "two recordings, compared",
  "Comparison.Pair": "a step of one or both of them",
  "Comparison.make": "compares two recordings",
  "ComparisonPage.make": "a comparison as a page",
  "ComparisonText.format": "a comparison as text",
  "Durable.CallMigration": "what becomes of the calls of one tool",
  "Durable.Migration": "a change of an agent, for runs of before",
  "Durable.MigrationError": "a migration that fails",
  "Durable.migrateCall": "makes calls of an earlier tool calls of a current one",
  "EventLog.EventFileError": "the file for events cannot be written",
  "EventLog.toFile": "events go to a file in one word",
  "Mcp.Pins": "the store of the definitions of MCP tools that are taken",
  "Mcp.layerPins": "these definitions in a KeyValueStore"
}

describe("the surface", () => {
  it("lists at most 350 names of core and providers beside those that are added, and at most 150 of the rest", () => {
    const listed = names.filter(isListed)
    const named = ({ module, name }: Public) => `${module.title.split("/").at(-1)}.${name}`
    const main = listed.filter(isMain).map(named)
    const others = listed.filter((name) => !isMain(name)).map(named)
    assert.includeMembers(main, Object.keys(added))
    assert.isAtMost(main.filter((name) => added[name] === undefined).length, 350)
    assert.isAtMost(Object.keys(added).length, 73)
    assert.includeMembers(others, Object.keys(addedElsewhere))
    assert.isAtMost(others.filter((name) => addedElsewhere[name] === undefined).length, 150)
  })

  it("hides at most 100 names, all of them types", () => {
    const hidden = names.filter(({ isHidden }) => isHidden)
    assert.isAtMost(hidden.length, 100)
    assert.deepStrictEqual(
      hidden.flatMap(({ module, name, value }) => (value === undefined ? [] : [`${module.title}.${name}`])),
      []
    )
  })

  it("has no type name twice, but for Options", () => {
    const types = names.filter(({ isType, name }) => isType && name !== "Options")
    assert.deepStrictEqual(
      doubled(types, ({ name }) => name),
      []
    )
  })

  it("exports no value in two ways", () => {
    const values = names.filter(({ from, value }) => value !== undefined && from.startsWith("packages/"))
    assert.deepStrictEqual(
      doubled(values, ({ from, name }) => `${from}#${name}`),
      []
    )
    const indexes = packages.flatMap((name) =>
      [...exportsOf(name).values()].filter((path) => path.endsWith("/index.ts"))
    )
    assert.deepStrictEqual(
      indexes.flatMap((path) =>
        namesOf(path).flatMap(({ from, name }) => (from.endsWith(`/${name}.ts`) ? [] : [`${path}: ${name}`]))
      ),
      []
    )
  })

  it("has at most 25 namespaces at the root of core, and 10 at that of providers", () => {
    const rootsOf = (name: string) => namesOf(`packages/${name}/src/index.ts`).length
    assert.isAtMost(rootsOf("core"), 25)
    assert.isAtMost(rootsOf("providers"), 10)
  })
})
