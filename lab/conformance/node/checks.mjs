// The checks of a client run one after another; each prints one line of JSON with its outcome.
import assert from 'node:assert/strict'
import { deflateSync } from 'node:zlib'

export const url = process.env.BASE_URL
export const PASSWORD = 'correct horse battery staple'
const LONGEST_MS = 20_000
let signedUp = 0

export async function check(name, run) {
  let timer
  const tooLong = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error('no answer in time')), LONGEST_MS)
  })
  try {
    await Promise.race([run(), tooLong])
    print({ name, passed: true })
  } catch (error) {
    print({ name, passed: false, text: String(error?.message ?? error) })
  } finally {
    clearTimeout(timer)
  }
}

export function freshName() {
  signedUp += 1
  return `js${Date.now().toString(36)}${signedUp}`
}

// Waits for what the worker does after a write. Never sleeps longer than it must.
export async function until(find) {
  const deadline = Date.now() + LONGEST_MS / 2
  for (;;) {
    const found = await find()
    if (found) return found
    assert.ok(Date.now() < deadline, `not within ${LONGEST_MS / 2} ms: ${find}`)
    await new Promise((go) => setTimeout(go, 100))
  }
}

export async function refused(status, call) {
  const error = await call().then(() => assert.fail('it was accepted'), (raised) => raised)
  assert.equal(error.statusCode ?? error.response?.status, status, error.message)
}

export function includes(list, id) {
  assert.ok(Array.isArray(list), 'not a list')
  assert.ok(list.some((one) => one.id === id), `${id} is not in it`)
}

// What another account did is there a moment later. `read` gives the list.
export async function includesSoon(read, id) {
  await until(async () => (await read()).some((one) => one.id === id))
}

// Does it again each second until the promise is kept.
export async function againUntil(promise, act) {
  let kept = false
  const ended = promise.finally(() => { kept = true })
  while (!kept) {
    await act()
    await Promise.race([ended, new Promise((go) => setTimeout(go, 1_000))])
  }
  return ended
}

// A red picture of 16 x 16 points.
export function picture() {
  const rows = Buffer.concat(Array.from({ length: 16 }, () => Buffer.from([0, ...Array(16).fill([255, 0, 0]).flat()])))
  const header = Buffer.from([0, 0, 0, 16, 0, 0, 0, 16, 8, 2, 0, 0, 0])
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...chunks])
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data])
  const length = Buffer.alloc(4)
  const sum = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(checksum(body))
  return Buffer.concat([length, body, sum])
}

function checksum(bytes) {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return (sum ^ 0xffffffff) >>> 0
}

function print(outcome) {
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
}
