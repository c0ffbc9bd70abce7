/** Causes of errors, which may repeat a secret anywhere. */
import { assert, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"
import { Redacted } from "effect"
import { quote, scrubCause } from "../../../packages/providers/src/transport/Source.ts"

const secret = "c0rrect-H0rse-b4ttery-of-Source"

it("a cause without a secret stays itself, and one with a secret anywhere in its chain becomes a summary [T8]", () => {
  const redacted = Redacted.make(secret)
  Redaction.know(redacted)
  const stackless = Object.assign(new Error("plain"), { stack: undefined })
  for (const cause of [
    new Error("plain"),
    new Error("outer", { cause: new TypeError("inner") }),
    stackless,
    "plain",
    5
  ]) {
    assert.strictEqual(scrubCause(cause), cause)
  }
  const summary = (cause: unknown) => {
    const error = scrubCause(cause)
    assert(error instanceof Error)
    assert.notInclude(`${error.message} ${error.stack}`, secret)
    return [error.name, error.message, "code" in error ? error.code : "none"]
  }
  const inner = new Error("outer", { cause: new TypeError(`it was ${secret}`) })
  assert.deepStrictEqual(summary(inner), ["Error", "outer", "none"])
  assert.deepStrictEqual(summary(new TypeError(`it was ${secret}`, { cause: new Error("inner") })), [
    "TypeError",
    "it was <redacted>",
    "none"
  ])
  const refused = Object.assign(new Error(`${secret} was refused`), { code: "ECONNREFUSED" })
  assert.deepStrictEqual(summary(refused), ["Error", "<redacted> was refused", "ECONNREFUSED"])
  const inStack = Object.assign(new Error("plain"), { stack: `Error: plain\n    at https://a.test/${secret}` })
  assert.deepStrictEqual(summary(inStack), ["Error", "plain", "none"])
  assert.deepStrictEqual(summary(`it was ${secret}`), ["string", "it was <redacted>", "none"])
  assert.strictEqual(quote(` it was ${secret}\n`), "it was <redacted>")
  // until here something holds the secret, and so it is known
  assert.strictEqual(Redacted.value(redacted), secret)
})
