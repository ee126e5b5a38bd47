// Relations, lists, timelines, tags, notifications, filters and streams.
package main

import (
	"context"
	"strings"

	"github.com/mattn/go-mastodon"
)

func checkRelations() {
	check("profile", func(ctx context.Context) error {
		name, note := "Go", "writes in Go"
		changed, err := me.AccountUpdate(ctx, &mastodon.Profile{DisplayName: &name, Note: &note})
		if err != nil {
			return err
		}
		return that(changed.DisplayName == name && strings.Contains(changed.Note, note), "not changed")
	})
	check("lookup and search", func(ctx context.Context) error {
		same, err := me.AccountLookup(ctx, theirs.Acct)
		if err != nil {
			return err
		}
		people, err := me.AccountsSearch(ctx, theirs.Username, 5)
		if err != nil {
			return err
		}
		return that(same.ID == theirs.ID && len(people) == 1, "%d people", len(people))
	})
	type act func(context.Context, mastodon.ID) (*mastodon.Relationship, error)
	for _, pair := range []struct {
		name     string
		do, undo act
		shows    func(*mastodon.Relationship) bool
	}{
		{"mute", me.AccountMute, me.AccountUnmute, func(r *mastodon.Relationship) bool { return r.Muting }},
		{"block", me.AccountBlock, me.AccountUnblock, func(r *mastodon.Relationship) bool { return r.Blocking }},
		{"follow", me.AccountFollow, me.AccountUnfollow, func(r *mastodon.Relationship) bool { return r.Following }},
	} {
		check(pair.name, func(ctx context.Context) error {
			done, err := pair.do(ctx, theirs.ID)
			if err != nil {
				return err
			}
			undone, err := pair.undo(ctx, theirs.ID)
			if err != nil {
				return err
			}
			return that(pair.shows(done) && !pair.shows(undone), "%+v, then %+v", done, undone)
		})
	}
	check("followers and following", func(ctx context.Context) error {
		if _, err := me.AccountFollow(ctx, theirs.ID); err != nil {
			return err
		}
		following, err := me.GetAccountFollowing(ctx, mine.ID, nil)
		if err != nil {
			return err
		}
		if err := until(ctx, func() (bool, error) {
			followers, err := other.GetAccountFollowers(ctx, theirs.ID, nil)
			return len(followers) == 1, err
		}); err != nil {
			return err
		}
		related, err := me.GetAccountRelationships(ctx, []string{string(theirs.ID)})
		if err != nil {
			return err
		}
		return that(len(following) == 1 && related[0].Following, "not followed")
	})
	check("posts of an account", func(ctx context.Context) error {
		posts, err := other.GetAccountStatuses(ctx, mine.ID, nil)
		if err != nil {
			return err
		}
		return has(posts, post.ID)
	})
	check("report", func(ctx context.Context) error {
		report, err := other.Report(ctx, mine.ID, []mastodon.ID{post.ID}, "not nice")
		if err != nil {
			return err
		}
		return that(report.ID != "", "no id")
	})
}

func checkLists() {
	check("list", func(ctx context.Context) error {
		list, err := me.CreateList(ctx, "Go people")
		if err != nil {
			return err
		}
		if err := me.AddToList(ctx, list.ID, theirs.ID); err != nil {
			return err
		}
		said, err := other.PostStatus(ctx, &mastodon.Toot{Status: "for the list"})
		if err != nil {
			return err
		}
		if err := until(ctx, func() (bool, error) {
			posts, err := me.GetTimelineList(ctx, list.ID, nil)
			return has(posts, said.ID) == nil, err
		}); err != nil {
			return err
		}
		if err := me.RemoveFromList(ctx, list.ID, theirs.ID); err != nil {
			return err
		}
		members, err := me.GetListAccounts(ctx, list.ID)
		if err != nil {
			return err
		}
		if err := me.DeleteList(ctx, list.ID); err != nil {
			return err
		}
		_, err = me.GetList(ctx, list.ID)
		if len(members) > 0 {
			return that(false, "%d members", len(members))
		}
		return refused(404, err)
	})
}

func checkTimelines() {
	check("home", func(ctx context.Context) error {
		said, err := other.PostStatus(ctx, &mastodon.Toot{Status: "for home"})
		if err != nil {
			return err
		}
		return until(ctx, func() (bool, error) {
			posts, err := me.GetTimelineHome(ctx, nil)
			return has(posts, said.ID) == nil, err
		})
	})
	check("pages of home", func(ctx context.Context) error {
		page := &mastodon.Pagination{Limit: 2}
		first, err := me.GetTimelineHome(ctx, page)
		if err != nil {
			return err
		}
		second, err := me.GetTimelineHome(ctx, &mastodon.Pagination{MaxID: page.MaxID, Limit: 2})
		if err != nil {
			return err
		}
		return that(len(first) == 2 && len(second) > 0 && second[0].ID < first[1].ID, "the pages overlap")
	})
	check("public", func(ctx context.Context) error {
		return until(ctx, func() (bool, error) {
			posts, err := guest.GetTimelinePublic(ctx, true, nil)
			return has(posts, post.ID) == nil, err
		})
	})
	check("conversations", func(ctx context.Context) error {
		aside := &mastodon.Toot{
			Status: "@" + mine.Acct + " an aside", Visibility: mastodon.VisibilityDirectMessage,
		}
		if _, err := other.PostStatus(ctx, aside); err != nil {
			return err
		}
		return until(ctx, func() (bool, error) {
			conversations, err := me.GetConversations(ctx, nil)
			if err != nil || len(conversations) == 0 {
				return false, err
			}
			return conversations[0].Unread, me.MarkConversationAsRead(ctx, conversations[0].ID)
		})
	})
}

func checkTags() {
	check("follow a tag", func(ctx context.Context) error {
		if _, err := me.TagFollow(ctx, "tideline"); err != nil {
			return err
		}
		tags, err := me.TagsFollowed(ctx, nil)
		if err != nil {
			return err
		}
		left, err := me.TagUnfollow(ctx, "tideline")
		if err != nil {
			return err
		}
		return that(len(tags) == 1 && tags[0].Name == "tideline" && !left.Following, "%d tags", len(tags))
	})
	check("posts with a tag", func(ctx context.Context) error {
		said, err := me.PostStatus(ctx, &mastodon.Toot{Status: "about #gophers"})
		if err != nil {
			return err
		}
		return until(ctx, func() (bool, error) {
			posts, err := other.GetTimelineHashtag(ctx, "gophers", true, nil)
			return has(posts, said.ID) == nil, err
		})
	})
	check("search", func(ctx context.Context) error {
		return until(ctx, func() (bool, error) {
			results, err := me.Search(ctx, "gophers", false)
			if err != nil {
				return false, err
			}
			return len(results.Hashtags) > 0, nil
		})
	})
}

func checkNotifications() {
	check("notifications", func(ctx context.Context) error {
		if err := until(ctx, func() (bool, error) {
			list, err := me.GetNotifications(ctx, nil)
			return hasNotification(list, "favourite") && hasNotification(list, "mention"), err
		}); err != nil {
			return err
		}
		only, err := me.GetNotificationsExclude(ctx, &[]string{"favourite"}, nil)
		if err != nil {
			return err
		}
		first, err := me.GetNotification(ctx, only[0].ID)
		if err != nil {
			return err
		}
		return that(!hasNotification(only, "favourite") && first.ID == only[0].ID, "not left out")
	})
	check("clear notifications", func(ctx context.Context) error {
		if err := me.ClearNotifications(ctx); err != nil {
			return err
		}
		list, err := me.GetNotifications(ctx, nil)
		if err != nil {
			return err
		}
		return that(len(list) == 0, "%d are left", len(list))
	})
}

func hasNotification(list []*mastodon.Notification, kind string) bool {
	for _, notification := range list {
		if notification.Type == kind {
			return true
		}
	}
	return false
}

func checkFilters() {
	check("filter", func(ctx context.Context) error {
		filter, err := me.CreateFilter(ctx, &mastodon.Filter{Phrase: "spoiler", Context: []string{"home"}})
		if err != nil {
			return err
		}
		filters, err := me.GetFilters(ctx)
		if err != nil {
			return err
		}
		if err := me.DeleteFilter(ctx, filter.ID); err != nil {
			return err
		}
		_, err = me.GetFilter(ctx, filter.ID)
		if len(filters) != 1 || filters[0].Phrase != "spoiler" {
			return that(false, "%d filters", len(filters))
		}
		return refused(404, err)
	})
}

func checkStreams() {
	check("stream of server-sent events", func(ctx context.Context) error {
		return hear(ctx, func(client *mastodon.Client) (chan mastodon.Event, error) {
			return client.StreamingUser(ctx)
		})
	})
	check("stream of a WebSocket", func(ctx context.Context) error {
		return hear(ctx, func(client *mastodon.Client) (chan mastodon.Event, error) {
			return client.NewWSClient().StreamingWSUser(ctx)
		})
	})
}

// hear posts until the stream tells of a post: it may begin a moment later. Behind a proxy the
// streams have the address of the site; here they have their own.
func hear(ctx context.Context, open func(*mastodon.Client) (chan mastodon.Event, error)) error {
	instance, err := guest.GetInstance(ctx)
	if err != nil {
		return err
	}
	address := strings.Replace(instance.URLs["streaming_api"], "ws", "http", 1)
	events, err := open(mastodon.NewClient(&mastodon.Config{Server: address, AccessToken: me.Config.AccessToken}))
	if err != nil {
		return err
	}
	return until(ctx, func() (bool, error) {
		if _, err := other.PostStatus(ctx, &mastodon.Toot{Status: "for the stream"}); err != nil {
			return false, err
		}
		select {
		case event := <-events:
			update, isUpdate := event.(*mastodon.UpdateEvent)
			return isUpdate && update.Status.Account.ID == theirs.ID, nil
		default:
			return false, nil
		}
	})
}

func checkEnd() {
	check("revoke the token", func(ctx context.Context) error {
		token := me.Config.AccessToken
		if err := me.RevokeToken(ctx); err != nil {
			return err
		}
		me.Config.AccessToken = token
		_, err := me.GetAccountCurrentUser(ctx)
		return refused(401, err)
	})
}
