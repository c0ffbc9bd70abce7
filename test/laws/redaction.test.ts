/** What is a secret is in no text, wherever the text is cut; what is none stays. */
import { assert } from "@effect/vitest"
import * as Redaction from "@kintsugi/core/Redaction"
import { Effect } from "effect"
import fc from "fast-check"
import { ordinaryTexts } from "../core/data/_support/ordinaryTexts.ts"
import { publishedKeys } from "../core/data/_support/publishedKeys.ts"
import { law } from "../_support/laws.ts"

/** A text of words, each of them ordinary or a key of a published format, between spaces. */
const words = fc.array(
  fc.oneof(
    fc.record({ isSecret: fc.constant(false), text: fc.constantFrom(...ordinaryTexts) }),
    fc.record({ isSecret: fc.constant(true), text: fc.constantFrom(...publishedKeys.map(([, key]) => key)) })
  ),
  { minLength: 1, maxLength: 6 }
)

/** The first 8 characters of a secret that a text shows. */
const shown = (text: string, secret: string): string | undefined =>
  Array.from({ length: Math.max(0, secret.length - 7) }, (_, at) => secret.slice(at, at + 8)).find((piece) =>
    text.includes(piece)
  )

/** Values of a program: of several kinds of characters, and long enough to be no word. */
const value = fc.stringMatching(/^(?:[a-z]{2}[A-Z]{2}\d{2}[+_-]){2,6}[a-z]\d{2}$/)

law(
  "a key of a published format shows no 8 of its characters in a text cut anywhere; ordinary texts stay, and the second redaction changes nothing [L914 P1331]",
  fc.record({ words, share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  ({ share, words }) =>
    Effect.sync(() => {
      const text = words.map((word) => word.text).join(" | ")
      const secrets = words.flatMap((word) => (word.isSecret ? [word.text] : []))
      const plain = words.map((word) => (word.isSecret ? Redaction.mark : word.text)).join(" | ")
      const max = Math.round(share * (text.length + 2))
      for (const redacted of [Redaction.foreign(text, Infinity), Redaction.own(text)]) {
        assert.strictEqual(redacted, plain)
        assert.strictEqual(Redaction.own(redacted), redacted)
      }
      const cut = Redaction.foreign(text, max)
      assert.isAtMost(cut.length, max + 1)
      assert.isTrue(plain.startsWith(cut.replace(/…$/, "")), `${cut} is no beginning of ${plain}`)
      assert.strictEqual(Redaction.foreign(cut, max), cut)
      for (const secret of secrets) assert.isUndefined(shown(cut, secret))
    })
)

law(
  "a known value shows no 8 of its characters, whichever part of it a text quotes [L914 P202 P1331]",
  fc.record({ value, from: fc.nat(20), length: fc.integer({ min: 8, max: 60 }), before: fc.constantFrom("", "at ") }),
  ({ before, from, length, value }) =>
    Effect.sync(() => {
      const quoted = value.slice(from % value.length, (from % value.length) + length)
      const redact = Redaction.of([value])
      const text = redact(`${before}${quoted} is refused`)
      if (quoted.length >= 16) assert.isUndefined(shown(text, value), `${text} shows a part of ${value}`)
      assert.match(text, / is refused$/)
      assert.strictEqual(redact(text), text)
    })
)
