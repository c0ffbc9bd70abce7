/** The scenarios, as data. */
import { LlmError } from "@kintsugi/core"
import type { Call, JsonObject, Scenario } from "./scenario.ts"

const guest = { name: "Ada Berg", age: 36 }

const booking = {
  asked:
    "Book a double room in Oslo for 2 nights from 2027-03-03. The guest is Ada Berg, who is 36. Answer with the reference.",
  first: {
    tool: "book_room",
    arguments: { city: "Oslo", date: "2027-03-03", nights: 2, room: "double", guest }
  } satisfies Call
}

const rate = (tool: string): Call => ({ tool, arguments: { from: "NOK", to: "EUR" } })

const without = (sent: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => name !== field))

/** All of them. */
export const scenarios: ReadonlyArray<Scenario> = [
  {
    ...booking,
    name: "missing-field",
    says: "a required field is left out",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: without(sent, "city") }),
      isReadable: false,
      guess: { ...booking.first.arguments, city: "Bergen" }
    },
    names: ["city"]
  },
  {
    ...booking,
    name: "number-as-text",
    says: "a number comes as a text",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: { ...sent, nights: String(sent["nights"]) } }),
      isReadable: true
    },
    names: ["nights"]
  },
  {
    ...booking,
    name: "truncated",
    says: "the JSON is cut off in the middle",
    fault: {
      at: "call",
      damage: (sent) => {
        const text = JSON.stringify(sent)
        return { arguments: text.slice(0, Math.floor(text.length / 2)) }
      },
      isReadable: false
    },
    names: ["JSON"]
  },
  {
    ...booking,
    name: "single-quotes",
    says: "the JSON has single quotes",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: JSON.stringify(sent).replaceAll('"', "'") }),
      isReadable: true
    },
    names: ["JSON"]
  },
  {
    ...booking,
    name: "trailing-comma",
    says: "the JSON ends with a comma",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: JSON.stringify(sent).replaceAll("}", ",}") }),
      isReadable: true
    },
    names: ["JSON"]
  },
  {
    ...booking,
    name: "code-fence",
    says: "the JSON stands in a code fence, with words before it",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: `Here you go:\n\`\`\`json\n${JSON.stringify(sent)}\n\`\`\`` }),
      isReadable: true
    },
    names: ["JSON"]
  },
  {
    ...booking,
    name: "unknown-tool",
    says: "the tool's name is misspelt",
    fault: { at: "call", damage: (sent) => ({ tool: "book_rooms", arguments: sent }), isReadable: true },
    names: ["book_room"]
  },
  {
    ...booking,
    name: "extra-argument",
    says: "an argument is made up that the tool does not have",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, currency: "EUR" } }), isReadable: true },
    names: ["currency"]
  },
  {
    ...booking,
    name: "not-in-enum",
    says: "a value is none of those that are admitted",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, room: "double room" } }), isReadable: true },
    names: ["room:"]
  },
  {
    ...booking,
    name: "date-format",
    says: "a date is written out",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, date: "3 March 2027" } }), isReadable: true },
    names: ["date"]
  },
  {
    ...booking,
    name: "nested-as-text",
    says: "an object within the arguments comes as a text of JSON",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: { ...sent, guest: JSON.stringify(sent["guest"]) } }),
      isReadable: true
    },
    names: ["guest"]
  },
  {
    ...booking,
    name: "refused-value",
    says: "a value fits the schema, and the tool refuses it and says what there is",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, city: "Olso" } }), isReadable: true },
    names: ["Oslo"]
  },
  {
    ...booking,
    name: "busy-tool",
    says: "the tool fails twice, then works",
    fault: { at: "tool", times: 2, does: "busy" },
    names: ["busy"]
  },
  {
    ...booking,
    name: "hanging-tool",
    says: "the tool does not come back the first time; its limit is 5 seconds",
    fault: { at: "tool", times: 1, does: "hangs" },
    names: ["5s"]
  },
  {
    name: "gone-tool",
    says: "the tool fails for good; there is another one",
    asked: "Order the rate of exchange from NOK to EUR. Answer with the reference.",
    first: rate("live_rate"),
    instead: rate("archived_rate"),
    fault: { at: "tool", times: Infinity, does: "gone" },
    names: ["archived_rate"]
  },
  {
    ...booking,
    name: "wordy-answer",
    says: "the answer does not fit the output schema",
    fault: { at: "answer", damage: (text) => `With pleasure! It is ${text}. Have a nice stay!` },
    names: ["reference alone"],
    isReferenceDemanded: true
  },
  {
    ...booking,
    name: "empty-answer",
    says: "the last reply is empty, and so is the one that the run asks for once more",
    fault: { at: "answer", times: 2, damage: () => "" },
    names: ["reference alone"],
    isReferenceDemanded: true
  },
  {
    ...booking,
    name: "overloaded-model",
    says: "the model is overloaded twice",
    fault: { at: "model", times: 2, error: (model) => LlmError.ModelOverloadedError.modelOverloaded(model) },
    names: []
  },
  {
    name: "full-context",
    says: "a result is longer than the model's context window",
    asked: "Read the report of 2026. Answer with the reference.",
    first: { tool: "read_report", arguments: { year: 2026 } },
    fault: { at: "window", characters: 6000 },
    names: []
  }
]
