/** What is mutated, under the names of the report. */

/** Files by the start of their path below a package's sources; the first entry that matches a file has it. */
export interface Target {
  readonly name: string
  readonly matches: RegExp
  /** Test files that are about what its sources make once, when a module is loaded: tables, texts, schemas. */
  readonly tables?: ReadonlyArray<string>
}

const core = "^packages/core/src/"
const providers = "^packages/providers/src/"

const codec = (name: string): Target => ({
  name,
  matches: new RegExp(`${providers}(${name}|internal/${name.charAt(0).toLowerCase()}${name.slice(1)}[A-Za-z]*)\\.ts$`),
  tables: ["test/providersPage.test.ts", "test/providers/errorCodes.test.ts"]
})

export const targets: ReadonlyArray<Target> = [
  { name: "Backoff", matches: new RegExp(`${core}Backoff\\.ts$`) },
  { name: "Recovery", matches: new RegExp(`${core}(Recovery|internal/recovery[A-Z][A-Za-z]*)\\.ts$`) },
  { name: "Budget", matches: new RegExp(`${core}(Budget|internal/budget[A-Z][A-Za-z]*|internal/runBudget)\\.ts$`) },
  {
    name: "Toolset",
    matches: new RegExp(`${core}(Toolset|internal/(toolset[A-Z][A-Za-z]*|settling))\\.ts$`),
    tables: ["test/core/Complete.test.ts", "test/core/Escalate.test.ts"]
  },
  { name: "Turn", matches: new RegExp(`${core}(Turn|internal/turn[A-Z][A-Za-z]*)\\.ts$`) },
  {
    name: "Agent",
    matches: new RegExp(`${core}(Agent|internal/agent(?!Event)[A-Z][A-Za-z]*)\\.ts$`),
    tables: ["test/core/AsTool.test.ts", "test/core/Resume.test.ts"]
  },
  { name: "Message", matches: new RegExp(`${core}(Message|internal/message[A-Z][A-Za-z]*)\\.ts$`) },
  codec("OpenAiChat"),
  codec("OpenAiResponses"),
  codec("AnthropicMessages"),
  codec("GeminiContent"),
  codec("OllamaChat")
]

/** The target that a source file belongs to. */
export const targetOf = (path: string): Target | undefined => targets.find(({ matches }) => matches.test(path))

/** The least score in percent: of everything together, and of each file. */
export const LEAST = { overall: 90, file: 85 }

/** The folders and files whose tests are run against the mutants. */
export const testFolders: ReadonlyArray<string> = [
  "test/core",
  "test/providers",
  "test/laws",
  "test/providersPage.test.ts"
]
