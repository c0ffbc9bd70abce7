/** The command line of the demo. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander"
import * as Result from "effect/Result"

export interface Settings {
  /** JSON text, a path, or `-`; absent for the built-in example. */
  readonly input: string | undefined
  /** Where the events go, one JSON line each. */
  readonly events: string | undefined
  readonly isStreamed: boolean
  /** All four scenes, instead of one run with the input. */
  readonly isStory: boolean
  readonly model: EmbeddedModel | RealModel
}

/** The stand-in model behind a server of our own, and what goes wrong on the way to it. */
export interface EmbeddedModel {
  readonly type: "embedded"
  readonly faults: Faults
}

export interface RealModel {
  readonly type: "openai"
  readonly name: string
  readonly baseUrl: string | undefined
}

export type Faults = (typeof faults)[number]

const faults = ["none", "default", "storm"] as const

/** The result of the command line: a run, or none after help or a complaint. */
export type Parsed =
  | { readonly type: "run"; readonly settings: Settings }
  | { readonly type: "exit"; readonly code: number }

export const usageExitCode = 2

/** Help goes to standard output, complaints to standard error; both are written here. */
export const parse = (parameters: ReadonlyArray<string>): Parsed => {
  const command = describe()
  const parsed = Result.try({
    try: () => settingsOf(command.parse(parameters, { from: "user" })),
    catch: (error) => (error instanceof CommanderError ? error.exitCode : undefined)
  })
  if (Result.isSuccess(parsed)) return { type: "run", settings: parsed.success }
  return { type: "exit", code: parsed.failure === 0 ? 0 : usageExitCode }
}

interface Flags {
  readonly events?: string
  readonly faults?: Faults
  readonly stream?: true
  readonly provider?: "openai"
  readonly model?: string
  readonly baseUrl?: string
}

const describe = (): Command =>
  new Command("npm run demo --")
    .usage("['<json text>' | <file> | -] [options]")
    .description(
      "An agent counts the keys of JSON objects, and recovers from what goes wrong on the way: in four short scenes, or in " +
        "one run with your JSON, which may be broken. The model is a stand-in behind a server on this machine: no key, no " +
        "network. The last line says where the report of all runs is, to be opened in a browser."
    )
    .argument("[json]", "JSON text, the path of a file, or - for standard input (default: four scenes)")
    .option("--events <file>", "write every event to a file, as JSON lines (waits in milliseconds)")
    .addOption(
      new Option("--faults <script>", "what goes wrong between agent and stand-in model, in one run")
        .choices(faults)
        .default("default")
    )
    .option("--stream", "ask the model for streamed replies, and show its text as it comes")
    .addOption(
      new Option("--provider <name>", "a real endpoint instead; its key is read from OPENAI_API_KEY").choices([
        "openai"
      ])
    )
    .option("--model <name>", "the model to ask there")
    .option("--base-url <url>", "where it is, if not at OpenAI itself", url)
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  npm run demo",
        "  npm run demo -- '{name: world, age: 30'",
        "  npm run demo -- data.json --events events.jsonl --faults storm",
        "  curl -s https://example.com/data.json | npm run demo -- -",
        "  npm run demo -- --provider openai --model gpt-5.6-terra '{a: 1}'"
      ].join("\n")
    )
    .showHelpAfterError("(npm run demo -- --help explains the options)")
    .exitOverride()

const url = (text: string): string => {
  const protocol = URL.parse(text)?.protocol
  if (protocol !== "http:" && protocol !== "https:") throw new InvalidArgumentError("It must be an http(s) URL.")
  return text
}

const settingsOf = (command: Command): Settings => {
  const flags = command.opts<Flags>()
  const input: string | undefined = command.processedArgs[0]
  const isOneRun = input !== undefined || flags.provider !== undefined || isGiven(command, "faults")
  return {
    input,
    events: flags.events,
    isStreamed: flags.stream === true,
    isStory: !isOneRun,
    model: modelOf(flags, command)
  }
}

const isGiven = (command: Command, option: keyof Flags): boolean => command.getOptionValueSource(option) === "cli"

const modelOf = (flags: Flags, command: Command): Settings["model"] => {
  if (flags.provider === undefined) {
    if (flags.model !== undefined) return command.error("error: --model needs --provider openai")
    if (flags.baseUrl !== undefined) return command.error("error: --base-url needs --provider openai")
    return { type: "embedded", faults: flags.faults ?? "default" }
  }
  if (flags.model === undefined) return command.error("error: --provider openai needs --model NAME")
  if (isGiven(command, "faults")) return command.error("error: --faults is for the stand-in model only")
  return { type: "openai", name: flags.model, baseUrl: flags.baseUrl }
}
