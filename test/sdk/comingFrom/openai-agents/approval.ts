import { Agent, run, RunState, tool } from "@openai/agents"
import { z } from "zod"

export const paid: Array<string> = []

const pay = tool({
  name: "pay",
  description: "Pays an invoice.",
  parameters: z.object({ invoice: z.string(), cents: z.int() }),
  needsApproval: true,
  execute: async ({ cents, invoice }) => {
    paid.push(invoice)
    return `Paid ${cents} for ${invoice}.`
  }
})

const clerk = new Agent({ name: "clerk", model: "gpt-5.6-sol", instructions: "Pay invoices.", tools: [pay] })

// a text for your database
const begin = async () => (await run(clerk, "Pay invoice A-1")).state.toString()

// a day later, in another process
const approve = async (document: string) => {
  const state = await RunState.fromString(clerk, document)
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  return (await run(clerk, state)).finalOutput
}

export const answer = async () => approve(await begin())
