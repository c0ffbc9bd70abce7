/** Functions of which the measurement is known: it has to refuse some of them, and no other. */
import { each, grows, none, type Table } from "./entry.ts"
import { repeated } from "./texts.ts"

const letters = { letters: (size: number) => repeated("a", size) }

const words = { words: (size: number) => repeated("word ", size) }

/** Each word is appended to a copy of all before it; the copies are made in place, so that no collector has a part in the time. */
const copied = (text: string): number => {
  let [all, copy] = [new Uint8Array(text.length + 1), new Uint8Array(text.length + 1)]
  let length = 0
  for (const word of text.split(" ")) {
    copy.set(all.subarray(0, length))
    copy.fill(word.length, length, length + word.length)
    length += word.length
    const before = all
    all = copy
    copy = before
  }
  return length
}

const bound = 4096

/** Looks at the beginning alone, and too often at that. */
const bounded = (text: string): number => {
  const start = text.slice(0, bound)
  let found = 0
  for (let at = 0; at < start.length; at++)
    for (let end = at; end < start.length; end++) if (start[end] === "b") found++
  return found
}

const deep = (text: string): number => (text === "" ? 0 : 1 + deep(text.slice(1)))

const quoted = (word: string): string => JSON.stringify({ [word]: [word, word] })

export const planted: Table = {
  planted: {
    "quadratic in an expression": grows(letters, (text) => /a+b/.test(text)),
    "quadratic in copies": grows(words, copied),
    "quadratic behind a bound": grows(letters, bounded, bound),
    "throws on long texts": grows(letters, deep),
    "linear in characters": grows(letters, (text) => text.split("").map((letter) => letter.toUpperCase())),
    "linear in words, and slow": grows(words, (text) => text.split(" ").map(quoted)),
    "linear in time": grows(words, (text) => Promise.resolve(text.length)),
    ...each(none("is never called"), "nothing")
  }
}
