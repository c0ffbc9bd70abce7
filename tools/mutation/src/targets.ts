/** What is mutated, under the names of the report. */

/** Files by their paths; the first entry that matches a file has it. */
export interface Target {
  readonly name: string
  readonly matches: RegExp
  /** Test files of other folders that are about what its sources make once, when a module is loaded: tables, texts, schemas. */
  readonly tables?: ReadonlyArray<string>
}

/** Files of core, by their paths below its sources. */
const core = (...paths: ReadonlyArray<string>): RegExp => new RegExp(`^packages/core/src/(?:${paths.join("|")})\\.ts$`)

/** The files of a codec, by their paths below `codec`: those of its folder, and those beside it that hold a part of the format. */
const codec = (name: string, ...paths: ReadonlyArray<string>): Target => ({
  name,
  matches: new RegExp(`^packages/providers/src/codec/(?:${paths.join("|")})\\.ts$`),
  tables: ["test/repository/providersPage.test.ts", "test/providers/classify/errorCodes.test.ts"]
})

export const targets: ReadonlyArray<Target> = [
  { name: "Backoff", matches: core("recovery/Backoff") },
  { name: "Recovery", matches: core("recovery/(?:Recovery|Driver|Layer|Position|names|policy|slots)") },
  { name: "Budget", matches: core("budget/(?:Budget|Meter)", "run/(?:budget|Limits)") },
  {
    name: "Toolset",
    matches: core("tool/(?:Toolset|CallSite|attempt|callState|checkpoint|endings|settle|builtIn)")
  },
  { name: "Turn", matches: core("run/(?:Run|beginning|checkpoint|modelCall|settle|shortening|turn)") },
  {
    name: "Agent",
    matches: core("agent/(?!Composition)\\w+", "recovery/(?:Explain|explainRows)"),
    tables: ["test/core/run/resumption.test.ts"]
  },
  { name: "Message", matches: core("data/(?:Message|parts|messageRepair)") },
  codec("OpenAiChat", "openai-chat/(?!reasoningDetails|thinkTags)\\w+", "openAi[A-Z]\\w*", "replyFacts"),
  codec("OpenAiResponses", "openai-responses/\\w+"),
  codec("AnthropicMessages", "anthropic/\\w+", "anthropic[A-Z]\\w*"),
  codec("GeminiContent", "gemini/\\w+", "gemini[A-Z]\\w*"),
  codec("OllamaChat", "ollama/\\w+")
]

/** The target that a source file belongs to. */
export const targetOf = (path: string): Target | undefined => targets.find(({ matches }) => matches.test(path))

/** The least score in percent: of everything together, and of each file. */
export const LEAST = { overall: 90, file: 85 }

/** The folders and files whose tests are run against the mutants. */
export const testFolders: ReadonlyArray<string> = [
  "test/_support",
  "test/core",
  "test/providers",
  "test/durable",
  "test/interop",
  "test/view",
  "test/laws",
  "test/repository/providersPage.test.ts"
]
