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

const order = {
  asked: "Cancel the order PK-2027-000124. Answer with the reference.",
  first: { tool: "cancel_order", arguments: { id: "PK-2027-000124" } } satisfies Call
}

const halfOf = (sent: JsonObject): string => {
  const text = JSON.stringify(sent)
  return text.slice(0, Math.floor(text.length / 2))
}

const without = (sent: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => name !== field))

/** All of them. */
export const scenarios: ReadonlyArray<Scenario> = [
  {
    ...booking,
    name: "missing-field",
    of: "arguments",
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
    of: "arguments",
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
    of: "arguments",
    says: "the JSON is cut off in the middle",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: halfOf(sent) }),
      isReadable: false
    },
    names: ["JSON"]
  },
  {
    ...booking,
    name: "single-quotes",
    of: "arguments",
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
    of: "arguments",
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
    of: "arguments",
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
    of: "tools",
    says: "the tool's name is misspelt",
    fault: { at: "call", damage: (sent) => ({ tool: "book_rooms", arguments: sent }), isReadable: true },
    names: ["book_room"]
  },
  {
    ...booking,
    name: "extra-argument",
    of: "arguments",
    says: "an argument is made up that the tool does not have",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, currency: "EUR" } }), isReadable: true },
    names: ["currency"]
  },
  {
    ...booking,
    name: "not-in-enum",
    of: "arguments",
    says: "a value is none of those that are admitted",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, room: "double room" } }), isReadable: true },
    names: ["room:"]
  },
  {
    ...booking,
    name: "date-format",
    of: "arguments",
    says: "a date is written out",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, date: "3 March 2027" } }), isReadable: true },
    names: ["date"]
  },
  {
    ...booking,
    name: "nested-as-text",
    of: "arguments",
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
    of: "tools",
    says: "a value fits the schema, and the tool refuses it and says what there is",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, city: "Olso" } }), isReadable: true },
    names: ["Oslo"]
  },
  {
    ...booking,
    name: "busy-tool",
    of: "tools",
    says: "the tool fails twice, then works",
    fault: { at: "tool", times: 2, does: "busy" },
    names: ["busy"]
  },
  {
    ...booking,
    name: "hanging-tool",
    of: "network",
    says: "the tool does not come back the first time; its limit is 5 seconds",
    fault: { at: "tool", times: 1, does: "hangs" },
    names: ["5s"]
  },
  {
    name: "gone-tool",
    of: "tools",
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
    of: "output",
    says: "the answer does not fit the output schema",
    fault: { at: "answer", damage: (text) => `With pleasure! It is ${text}. Have a nice stay!` },
    names: ["reference alone"],
    isReferenceDemanded: true
  },
  {
    ...booking,
    name: "empty-answer",
    of: "output",
    says: "the last reply is empty, and so is the one that the run asks for once more",
    fault: { at: "answer", times: 2, damage: () => "" },
    names: ["reference alone"],
    isReferenceDemanded: true
  },
  {
    ...booking,
    name: "overloaded-model",
    of: "model",
    says: "the model is overloaded twice",
    fault: { at: "model", times: 2, error: (model) => LlmError.ModelOverloadedError.make({ model }) },
    names: []
  },
  {
    name: "full-context",
    of: "model",
    says: "a result is longer than the model's context window",
    asked: "Read the report of 2026. Answer with the reference.",
    first: { tool: "read_report", arguments: { year: 2026 } },
    fault: { at: "window", characters: 6000 },
    names: []
  },
  {
    ...booking,
    name: "slip-argument",
    of: "arguments",
    says: "an argument has almost the name of one that is required",
    fault: {
      at: "call",
      damage: (sent) => ({ arguments: { ...without(sent, "guest"), guests: sent["guest"] ?? null } }),
      isReadable: true
    },
    names: ["guest"]
  },
  {
    ...booking,
    name: "contradictory-hint",
    of: "arguments",
    says: "a number is written as a word; told two things to do, the model turns to the user",
    fault: { at: "call", damage: (sent) => ({ arguments: { ...sent, nights: "two" } }), isReadable: true },
    names: ["nights"]
  },
  {
    ...booking,
    name: "false-name",
    of: "tools",
    says: "a tool is called that there is not",
    fault: { at: "call", damage: (sent) => ({ tool: "reserve_hotel", arguments: sent }), isReadable: true },
    names: ["book_room"]
  },
  {
    ...booking,
    name: "near-name",
    of: "tools",
    says: "the tool's name comes with a prefix and in another spelling",
    fault: { at: "call", damage: (sent) => ({ tool: "functions.bookRoom", arguments: sent }), isReadable: true },
    names: ["book_room"],
    isMendedAnyhow: true
  },
  {
    ...order,
    name: "destroyed-identifier",
    of: "tools",
    says: "an identifier is wrong, and the tool names the right one",
    fault: { at: "call", damage: () => ({ arguments: { id: "PK-2027-000123" } }), isReadable: true },
    names: ["PK-2027-000124"]
  },
  {
    ...booking,
    name: "refused-connection",
    of: "network",
    says: "a `fetch` of the tool is refused twice",
    fault: { at: "tool", times: 2, does: "refused" },
    names: ["fetch failed"]
  },
  {
    ...booking,
    name: "lost-connection",
    of: "network",
    says: "a connection of the tool is reset once",
    fault: { at: "tool", times: 1, does: "lost" },
    names: ["ECONNRESET"]
  },
  {
    ...booking,
    name: "unavailable-server",
    of: "network",
    says: "a server that the tool asks answers with the status 503, three times",
    fault: { at: "tool", times: 3, does: "unavailable" },
    names: ["503"]
  },
  {
    ...booking,
    name: "refused-undeclared",
    of: "network",
    says: "a tool that declares nothing cannot connect twice: nothing was sent",
    sideEffects: "undeclared",
    fault: { at: "tool", times: 2, does: "refused" },
    names: ["fetch failed"]
  },
  {
    ...booking,
    name: "lost-after-work",
    of: "network",
    says: "a tool that declares nothing does its work, and loses the connection before it can say so",
    sideEffects: "undeclared",
    check: { tool: "find_booking", arguments: { guest: guest.name } },
    fault: { at: "tool", times: 1, does: "lost-after-work" },
    names: ["may have taken effect"]
  },
  {
    ...booking,
    name: "empty-replies",
    of: "model",
    says: "the model says nothing twice, the second time when the run asks it once more",
    fault: { at: "answer", times: 2, damage: () => "" },
    names: []
  },
  {
    ...booking,
    name: "long-escalation",
    of: "fixer",
    says: "the tool's fixer escalates, and the right arguments stand at the end of 6,000 characters",
    fault: { at: "call", damage: (sent) => ({ arguments: halfOf(sent) }), isReadable: false },
    names: ['"name":"Ada Berg"'],
    fixer: "escalates"
  },
  {
    ...booking,
    name: "broken-fixer",
    of: "fixer",
    says: "the tool's fixer fails",
    fault: { at: "call", damage: (sent) => ({ arguments: halfOf(sent) }), isReadable: false },
    names: ["JSON"],
    fixer: "breaks"
  }
]
