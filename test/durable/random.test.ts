/** Random numbers of a seed, and the hash of a text: rows of earlier releases were made with both, so neither may change. */
import { assert, it } from "@effect/vitest"
import { fingerprint, seeded } from "../../packages/durable/src/random.ts"

/** What the published algorithms, `cyrb128` and `sfc32`, give in another language. */
const published = [
  {
    text: "",
    hash: "027ae52e1ca83f5f86fc3073982eea02",
    doubles: [0.0803792796509657, 0.5453597373598666, 0.15628127102284906],
    integers: [-8199944054092053, -5619986244546551, -6011532098966663, 6746027860936845]
  },
  {
    text: "a",
    hash: "5eb8e4e489ef75d80e6e9106d939003a",
    doubles: [0.6895584153520474, 0.2864327081980028, 0.07671604990296943],
    integers: [3786754183647071, -3475002375021249, 7825553724988596, 3025096647134321]
  },
  {
    text: "run-1/",
    hash: "3081188bfd9ed724c8c7c14605d80ee9",
    doubles: [0.40566412774069727, 0.7204070012239107, 0.9516697656393754],
    integers: [-4792772449485495, -3961381976925053, 7960321905722997, -7153192074445405]
  },
  {
    text: "späte Grüße 🌱",
    hash: "a76560581a29dd78b16ca17f0c201c5f",
    doubles: [0.4952691191753922, 0.6700043898427747, 0.22455934973809388],
    integers: [2060372504784933, 3695596780906195, -8075438732929329, 1857210294541020]
  }
]

it.each(published)(
  "the text '$text' has the same hash in every release, and the same numbers come from it as a seed [P1118 P1119]",
  ({ doubles, hash, integers, text }) => {
    assert.strictEqual(fingerprint(text), hash)
    const random = seeded(text)
    assert.deepStrictEqual(
      doubles.map(() => random.nextDoubleUnsafe()),
      doubles
    )
    assert.deepStrictEqual(
      integers.map(() => random.nextIntUnsafe()),
      integers
    )
  }
)
