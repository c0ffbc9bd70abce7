/** Secrets count as long as their `Redacted` is in memory. */
import { assert, it } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"
import { Redacted } from "effect"
import { createHash } from "node:crypto"
import { setImmediate } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const collect: () => void = (setFlagsFromString("--expose-gc"), runInNewContext("gc"))

let made = 0

/** A text that no other test has, and no other run of one. */
const fresh = (): string => createHash("sha256").update(`planted ${++made}`).digest("base64url")

/** Whether a condition holds after some collections. */
const comes = async (holds: () => boolean): Promise<boolean> => {
  for (let turn = 0; turn < 30 && !holds(); turn++) {
    collect()
    await setImmediate()
  }
  return holds()
}

it("the parts that are named are secret, and nothing else of the value [P1331]", () => {
  const [secret, other] = [fresh(), "Basic"]
  const held = Redacted.make(`${other} ${secret}`)
  assert.strictEqual(Redaction.own(`it says ${secret}.`), `it says ${secret}.`)
  Redaction.know(held, [secret])
  assert.strictEqual(Redaction.own(`it says ${other} ${secret}.`), `it says ${other} <redacted>.`)
  assert.strictEqual(Redacted.value(held), `${other} ${secret}`)
})

it("a secret is forgotten with its Redacted, but not what another one has in common with it [P1331]", async () => {
  const [common, own] = [fresh(), fresh()]
  const held = Redacted.make(`${common}-and-more`)
  Redaction.know(held)
  const knows = () => void Redaction.know(Redacted.make(`${common}${own}`))
  knows()
  const shown = () => Redaction.own(`a ${common} b ${own} c`)
  assert.strictEqual(shown(), "a <redacted> b <redacted> c")
  assert.isTrue(await comes(() => shown() === `a <redacted> b ${own} c`))
  // another Redacted may hold the same
  const second = Redacted.make(own)
  Redaction.know(second)
  assert.strictEqual(shown(), "a <redacted> b <redacted> c")
  assert.strictEqual(Redacted.value(held).length, common.length + 9)
  assert.strictEqual(Redacted.value(second), own)
})
