/** Log lines of the library are redacted as errors are. */
import { expect, it } from "vitest"
import { type File, filesIn } from "../../scripts/files.ts"

const packages = ["core", "providers", "durable", "interop", "view"]

/** The arguments of each call of a log function of Effect. */
const logsIn = ({ path, text }: File): ReadonlyArray<string> =>
  [...text.matchAll(/Effect\.log(?:Fatal|Error|Warning|Info|Debug|Trace)?\(/g)].map(({ 0: call, index }) => {
    let at = index + call.length
    for (let depth = 1; depth > 0 && at < text.length; at++) depth += text[at] === "(" ? 1 : text[at] === ")" ? -1 : 0
    return `${path}: ${text.slice(index, at)}`
  })

const redacted = /(?:ErrorCause\.(?:logged|summarise)|Redaction\.(?:foreign|own))\((?:[^()]|\([^()]*\))*\)/g

/** Whether a call gives a cause or an error to the log as it is. */
const isRaw = (log: string): boolean =>
  /[(,:]\s*(?:\w+\.)?(?:cause|error)\s*[,)}]|String\(/.test(log.replaceAll(redacted, "x"))

it("no log line of a package has a cause or an error that is not redacted [P1394]", () => {
  const logs = packages
    .flatMap((name) => filesIn(`packages/${name}/src`, (path) => path.endsWith(".ts")))
    .flatMap(logsIn)
  expect(logs.length).toBeGreaterThan(20)
  expect(logs.filter(isRaw)).toEqual([])
})

it("finds what is planted [P1394]", () => {
  const planted = (text: string) => logsIn({ path: "a.ts", text }).some(isRaw)
  expect(planted("Effect.logWarning(`it ${f(1)} fails`, cause)")).toBe(true)
  expect(planted('Effect.logError("it fails", exit.cause)')).toBe(true)
  expect(planted("Effect.logDebug({ error: String(error) })")).toBe(true)
  expect(planted('Effect.logWarning("it fails", ErrorCause.logged(Cause.fail(error)))')).toBe(false)
})
