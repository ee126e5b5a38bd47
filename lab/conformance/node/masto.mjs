// masto.js, the client of Phanpy and Elk: its methods against a server, by two new accounts.
import assert from 'node:assert/strict'
import { createOAuthAPIClient, createRestAPIClient, createStreamingAPIClient } from 'masto'
import WebSocket from 'ws'
import { PASSWORD, againUntil, check, freshName, includes, includesSoon, picture, refused, until, url } from './checks.mjs'

const SCOPES = 'read write follow push'
const guest = createRestAPIClient({ url })
let me, other, mine, theirs, post, list, lastToken, myToken

async function person() {
  const app = await guest.v1.apps.create({ clientName: 'masto', redirectUris: 'urn:ietf:wg:oauth:2.0:oob', scopes: SCOPES })
  const oauth = createOAuthAPIClient({ url })
  const credentials = { clientId: app.clientId, clientSecret: app.clientSecret, scope: SCOPES }
  const own = await oauth.token.create({ ...credentials, grantType: 'client_credentials', redirectUri: 'urn:ietf:wg:oauth:2.0:oob' })
  const name = freshName()
  const signUp = { username: name, email: `${name}@example.org`, password: PASSWORD, agreement: true, locale: 'en' }
  const token = await createRestAPIClient({ url, accessToken: own.accessToken }).v1.accounts.create(signUp)
  lastToken = token.accessToken
  return createRestAPIClient({ url, accessToken: lastToken })
}

await check('sign up', async () => {
  me = await person()
  myToken = lastToken
  other = await person()
  mine = await me.v1.accounts.verifyCredentials()
  theirs = await other.v1.accounts.verifyCredentials()
  assert.ok(mine.id && mine.source && theirs.username)
})
await check('instance v1', async () => assert.ok((await guest.v1.instance.fetch()).uri))
await check('instance v2', async () => {
  const instance = await guest.v2.instance.fetch()
  assert.ok(instance.domain && instance.configuration.statuses.maxCharacters > 0)
  assert.equal(instance.registrations.enabled, true)
})
await check('oauth metadata', async () => {
  const metadata = await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()
  assert.ok(metadata.scopes_supported.includes('read'))
})
await check('post', async () => {
  post = await me.v1.statuses.create({ status: 'hello #tideline from masto' })
  assert.match(post.content, /hello/)
  assert.equal(post.account.id, mine.id)
})
await check('read a post', async () => assert.equal((await me.v1.statuses.$select(post.id).fetch()).content, post.content ?? 'none'))
await check('read several posts', async () => includes(await me.v1.statuses.list({ id: [post.id] }), post.id))
await check('reply and context', async () => {
  const reply = await other.v1.statuses.create({ status: 'a reply', inReplyToId: post.id })
  await includesSoon(async () => (await me.v1.statuses.$select(post.id).context.fetch()).descendants, reply.id)
})
await check('content warning', async () => {
  const status = await me.v1.statuses.create({ status: 'x', spoilerText: 'careful', sensitive: true, language: 'de' })
  assert.deepEqual([status.spoilerText, status.sensitive, status.language], ['careful', true, 'de'])
})
for (const visibility of ['public', 'unlisted', 'private', 'direct']) {
  await check(`visibility ${visibility}`, async () => {
    const status = await me.v1.statuses.create({ status: `for ${visibility}`, visibility })
    assert.equal(status.visibility, visibility)
    const seen = () => other.v1.statuses.$select(status.id).fetch()
    if (['private', 'direct'].includes(visibility)) await refused(404, seen)
    else assert.equal((await seen()).id, status.id)
  })
}
await check('mention', async () => {
  const status = await me.v1.statuses.create({ status: `hi @${theirs.acct}` })
  assert.equal(status.mentions[0].id, theirs.id)
  assert.match(status.content, /class="u-url mention"/)
})
await check('edit, history and source', async () => {
  const status = await me.v1.statuses.create({ status: 'before' })
  const edited = await me.v1.statuses.$select(status.id).update({ status: 'after' })
  assert.match(edited.content, /after/)
  assert.ok(edited.editedAt)
  assert.equal((await me.v1.statuses.$select(status.id).history.list()).length, 2)
  assert.equal((await me.v1.statuses.$select(status.id).source.fetch()).text, 'after')
})
await check('delete', async () => {
  const status = await me.v1.statuses.create({ status: 'short life' })
  assert.equal((await me.v1.statuses.$select(status.id).remove()).text, 'short life')
  await refused(404, () => me.v1.statuses.$select(status.id).fetch())
})
for (const [act, undo, field] of [
  ['favourite', 'unfavourite', 'favourited'],
  ['bookmark', 'unbookmark', 'bookmarked'],
  ['reblog', 'unreblog', 'reblogged'],
]) {
  await check(act, async () => {
    const acted = await other.v1.statuses.$select(post.id)[act]()
    assert.equal((acted.reblog ?? acted)[field], true)
    assert.equal((await other.v1.statuses.$select(post.id)[undo]())[field], false)
  })
}
await check('pin', async () => {
  assert.equal((await me.v1.statuses.$select(post.id).pin()).pinned, true)
  includes(await guest.v1.accounts.$select(mine.id).statuses.list({ pinned: true }), post.id)
  assert.equal((await me.v1.statuses.$select(post.id).unpin()).pinned, false)
})
await check('mute a conversation', async () => {
  assert.equal((await me.v1.statuses.$select(post.id).mute()).muted, true)
  assert.equal((await me.v1.statuses.$select(post.id).unmute()).muted, false)
})
await check('favourited and reblogged by', async () => {
  await other.v1.statuses.$select(post.id).favourite()
  await other.v1.statuses.$select(post.id).reblog()
  await includesSoon(() => me.v1.statuses.$select(post.id).favouritedBy.list(), theirs.id)
  await includesSoon(() => me.v1.statuses.$select(post.id).rebloggedBy.list(), theirs.id)
  includes(await other.v1.favourites.list(), post.id)
})
await check('bookmarks', async () => {
  await other.v1.statuses.$select(post.id).bookmark()
  includes(await other.v1.bookmarks.list(), post.id)
})
await check('follow and home', async () => {
  assert.equal((await other.v1.accounts.$select(mine.id).follow()).following, true)
  const status = await me.v1.statuses.create({ status: 'for my followers' })
  await until(async () => (await other.v1.timelines.home.list()).some((one) => one.id === status.id))
})
await check('pages of a timeline', async () => {
  const pages = []
  for await (const page of other.v1.timelines.home.list({ limit: 1 })) if (pages.push(...page) >= 3) break
  assert.equal(new Set(pages.map((one) => one.id)).size, pages.length)
  assert.ok(pages.length >= 2)
})
await check('followers and following', async () => {
  await includesSoon(() => me.v1.accounts.$select(mine.id).followers.list(), theirs.id)
  includes(await me.v1.accounts.$select(theirs.id).following.list(), mine.id)
})
await check('relationships', async () => {
  const [found] = await other.v1.accounts.relationships.fetch({ id: [mine.id] })
  assert.deepEqual([found.id, found.following], [mine.id, true])
})
await check('familiar followers', async () => {
  const [found] = await me.v1.accounts.familiarFollowers.fetch({ id: [theirs.id] })
  assert.equal(found.id, theirs.id)
})
await check('mute and block', async () => {
  assert.equal((await me.v1.accounts.$select(theirs.id).mute()).muting, true)
  includes(await me.v1.mutes.list(), theirs.id)
  assert.equal((await me.v1.accounts.$select(theirs.id).unmute()).muting, false)
  assert.equal((await me.v1.accounts.$select(theirs.id).block()).blocking, true)
  includes(await me.v1.blocks.list(), theirs.id)
  assert.equal((await me.v1.accounts.$select(theirs.id).unblock()).blocking, false)
})
await check('private note', async () => {
  assert.equal((await me.v1.accounts.$select(theirs.id).note.create({ comment: 'nice' })).note, 'nice')
})
await check('follow request', async () => {
  await me.v1.accounts.updateCredentials({ locked: true })
  const third = await person()
  const { id } = await third.v1.accounts.verifyCredentials()
  assert.equal((await third.v1.accounts.$select(mine.id).follow()).requested, true)
  await includesSoon(() => me.v1.followRequests.list(), id)
  await me.v1.followRequests.$select(id).authorize()
  await until(async () => (await third.v1.accounts.relationships.fetch({ id: [mine.id] }))[0].following)
  await me.v1.accounts.updateCredentials({ locked: false })
})
await check('account and lookup', async () => {
  assert.equal((await guest.v1.accounts.$select(mine.id).fetch()).id, mine.id)
  assert.equal((await guest.v1.accounts.lookup({ acct: mine.acct })).id, mine.id)
  includes(await guest.v1.accounts.fetch({ id: [mine.id] }), mine.id)
})
await check('edit the profile', async () => {
  const changed = await me.v1.accounts.updateCredentials({
    displayName: 'Me', note: 'about', bot: true, fieldsAttributes: [{ name: 'site', value: 'none' }],
  })
  assert.deepEqual([changed.displayName, changed.source.note, changed.bot], ['Me', 'about', true])
  assert.equal(changed.fields[0].name, 'site')
})
await check('avatar', async () => {
  const before = mine.avatar
  const changed = await me.v1.accounts.updateCredentials({ avatar: new Blob([picture()], { type: 'image/png' }) })
  assert.notEqual(changed.avatar, before)
})
await check('preferences', async () => assert.ok((await me.v1.preferences.fetch())['posting:default:visibility']))
await check('search', async () => {
  const { accounts } = await me.v2.search.list({ q: theirs.acct, type: 'accounts' })
  includes(accounts, theirs.id)
  includes(await me.v1.accounts.search.list({ q: theirs.acct }), theirs.id)
})
await check('media', async () => {
  const media = await me.v2.media.create({ file: new Blob([picture()], { type: 'image/png' }), description: 'red' })
  assert.equal(media.description, 'red')
  const status = await me.v1.statuses.create({ status: 'see', mediaIds: [media.id] })
  assert.equal(status.mediaAttachments[0].id, media.id)
})
await check('notifications', async () => {
  await other.v1.statuses.create({ status: `look @${mine.acct}` })
  await until(async () => (await me.v1.notifications.list({ types: ['mention'] })).length > 0)
  const [first] = await me.v1.notifications.list()
  assert.equal((await me.v1.notifications.$select(first.id).fetch()).id, first.id)
  assert.ok((await me.v1.notifications.unreadCount.fetch()).count > 0)
})
await check('grouped notifications', async () => {
  const page = await me.v2.notifications.list()
  assert.ok(page.notificationGroups.length > 0 && page.accounts.length > 0)
})
await check('notification policy', async () => {
  assert.ok((await me.v2.notifications.policy.fetch()).summary)
  assert.equal((await me.v2.notifications.policy.update({ forNotFollowing: 'filter' })).forNotFollowing, 'filter')
  await me.v2.notifications.policy.update({ forNotFollowing: 'accept' })
})
await check('notification requests', async () => assert.ok(Array.isArray(await me.v1.notifications.requests.list())))
await check('clear notifications', async () => {
  await me.v1.notifications.clear()
  assert.deepEqual(await me.v1.notifications.list(), [])
})
await check('lists', async () => {
  list = await me.v1.lists.create({ title: 'friends' })
  assert.equal((await me.v1.lists.$select(list.id).update({ title: 'close' })).title, 'close')
  await me.v1.accounts.$select(theirs.id).follow()
  await me.v1.lists.$select(list.id).accounts.create({ accountIds: [theirs.id] })
  includes(await me.v1.lists.$select(list.id).accounts.list(), theirs.id)
  includes(await me.v1.accounts.$select(theirs.id).lists.list(), list.id)
  assert.ok(Array.isArray(await me.v1.timelines.list.$select(list.id).list()))
  await me.v1.lists.$select(list.id).remove()
})
await check('filters', async () => {
  const filter = await me.v2.filters.create({
    title: 'no spoilers', context: ['home'], filterAction: 'warn', keywordsAttributes: [{ keyword: 'spoiler' }],
  })
  assert.equal(filter.keywords[0].keyword, 'spoiler')
  includes(await me.v2.filters.list(), filter.id)
  await me.v2.filters.$select(filter.id).remove()
})
await check('tags', async () => {
  assert.equal((await me.v1.tags.$select('tideline').fetch()).name, 'tideline')
  assert.equal((await me.v1.tags.$select('tideline').follow()).following, true)
  assert.equal((await me.v1.followedTags.list())[0].name, 'tideline')
  await until(async () => (await me.v1.timelines.tag.$select('tideline').list()).some((one) => one.id === post.id))
})
await check('featured tags', async () => {
  const tag = await me.v1.featuredTags.create({ name: 'tideline' })
  includes(await me.v1.featuredTags.list(), tag.id)
})
await check('conversations', async () => {
  await other.v1.statuses.create({ status: `@${mine.acct} psst`, visibility: 'direct' })
  // Own direct posts without mentions are conversations with oneself.
  const found = await until(async () => {
    const all = await me.v1.conversations.list()
    return all.find((one) => one.accounts[0].id === theirs.id)
  })
  assert.equal((await me.v1.conversations.$select(found.id).read()).unread, false)
})
await check('markers', async () => {
  await me.v1.markers.create({ home: { lastReadId: post.id } })
  assert.equal((await me.v1.markers.fetch({ timeline: ['home'] })).home.lastReadId, post.id)
})
await check('suggestions', async () => assert.ok(Array.isArray(await me.v2.suggestions.list())))
await check('public timeline', async () => assert.ok((await guest.v1.timelines.public.list({ local: true })).length > 0))
await check('report', async () => {
  const report = await me.v1.reports.create({ accountId: theirs.id, comment: 'bad' })
  assert.equal(report.targetAccount.id, theirs.id)
})
await check('push subscription', async () => {
  await refused(404, () => me.v1.push.subscription.fetch())
})
await check('directory', async () => assert.ok((await guest.v1.directory.list({ order: 'new' })).length > 0))
for (const [name, call] of Object.entries({
  'custom emojis': () => guest.v1.customEmojis.list(),
  announcements: () => me.v1.announcements.list(),
  'trends of tags': () => guest.v1.trends.tags.list(),
  'trends of posts': () => guest.v1.trends.statuses.list(),
  'trends of links': () => guest.v1.trends.links.list(),
  'scheduled posts': () => me.v1.scheduledStatuses.list(),
  'blocked domains': () => me.v1.domainBlocks.list(),
  endorsements: () => me.v1.endorsements.list(),
  'instance peers': () => guest.v1.instance.peers.list(),
  'instance rules': () => guest.v1.instance.rules.list(),
})) {
  await check(name, async () => assert.deepEqual(await call(), []))
}
await check('instance languages', async () => assert.ok((await guest.v1.instance.languages.list()).length > 0))
await check('streams of notifications and of a tag, on one connection', async () => {
  const { streaming: streamingApiUrl } = (await guest.v2.instance.fetch()).configuration.urls
  const streams = createStreamingAPIClient({ streamingApiUrl, accessToken: myToken, implementation: WebSocket })
  try {
    const notified = streams.user.notification.subscribe().values().next()
    const tagged = streams.hashtag.subscribe({ tag: 'seals' }).values().next()
    // The client does not say when it listens.
    const both = Promise.all([notified, tagged])
    const [first, second] = await againUntil(both, () => other.v1.statuses.create({ status: `@${mine.acct} #seals` }))
    assert.deepEqual([first.value.event, first.value.payload.type], ['notification', 'mention'])
    assert.deepEqual([second.value.event, second.value.payload.account.id], ['update', theirs.id])
  } finally {
    streams.close()
  }
})
await check('a wrong token', async () => {
  await refused(401, () => createRestAPIClient({ url, accessToken: 'nothing' }).v1.accounts.verifyCredentials())
})
process.exit(0)
