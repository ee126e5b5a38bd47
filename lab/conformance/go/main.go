// go-mastodon, the client of Go programs: its methods against a server, by two new accounts.
package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mattn/go-mastodon"
)

var (
	guest        = mastodon.NewClient(&mastodon.Config{Server: server})
	me, other    *mastodon.Client
	mine, theirs *mastodon.Account
	post         *mastodon.Status
)

func main() {
	checkSignUp()
	checkInstance()
	checkPosts()
	checkInteractions()
	checkPolls()
	checkMedia()
	checkRelations()
	checkLists()
	checkTimelines()
	checkTags()
	checkNotifications()
	checkFilters()
	checkStreams()
	checkEnd()
}

func checkSignUp() {
	check("sign up", func(ctx context.Context) (err error) {
		if me, err = person(ctx, 1); err != nil {
			return err
		}
		if other, err = person(ctx, 2); err != nil {
			return err
		}
		if mine, err = me.GetAccountCurrentUser(ctx); err != nil {
			return err
		}
		if theirs, err = other.GetAccountCurrentUser(ctx); err != nil {
			return err
		}
		return that(mine.ID != "" && mine.ID != theirs.ID, "the same account twice")
	})
	check("application", func(ctx context.Context) error {
		app, err := me.VerifyAppCredentials(ctx)
		if err != nil {
			return err
		}
		return that(app.Name == "go-mastodon", "named %q", app.Name)
	})
}

func checkInstance() {
	check("instance", func(ctx context.Context) error {
		instance, err := guest.GetInstance(ctx)
		if err != nil {
			return err
		}
		return that(instance.URI != "" && instance.Configuration.Statuses != nil, "no configuration")
	})
	check("activity", func(ctx context.Context) error {
		weeks, err := guest.GetInstanceActivity(ctx)
		if err != nil {
			return err
		}
		return that(len(weeks) == 12, "%d weeks", len(weeks))
	})
}

func checkPosts() {
	check("post", func(ctx context.Context) (err error) {
		post, err = me.PostStatus(ctx, &mastodon.Toot{Status: "hello #tideline from Go"})
		if err != nil {
			return err
		}
		return that(strings.Contains(post.Content, "hello") && post.Account.ID == mine.ID, "another post")
	})
	check("read a post", func(ctx context.Context) error {
		same, err := other.GetStatus(ctx, post.ID)
		if err != nil {
			return err
		}
		return that(same.Content == post.Content, "another text")
	})
	check("reply and context", func(ctx context.Context) error {
		reply, err := other.PostStatus(ctx, &mastodon.Toot{Status: "a reply", InReplyToID: post.ID})
		if err != nil {
			return err
		}
		return until(ctx, func() (bool, error) {
			thread, err := me.GetStatusContext(ctx, post.ID)
			if err != nil {
				return false, err
			}
			return has(thread.Descendants, reply.ID) == nil, nil
		})
	})
	for _, visibility := range []string{
		mastodon.VisibilityPublic, mastodon.VisibilityUnlisted,
		mastodon.VisibilityFollowersOnly, mastodon.VisibilityDirectMessage,
	} {
		check("visibility "+visibility, func(ctx context.Context) error {
			return checkVisibility(ctx, visibility)
		})
	}
	check("edit, source and history", func(ctx context.Context) error {
		edited, err := me.UpdateStatus(ctx, &mastodon.Toot{Status: "hello again"}, post.ID)
		if err != nil {
			return err
		}
		source, err := me.GetStatusSource(ctx, post.ID)
		if err != nil {
			return err
		}
		history, err := other.GetStatusHistory(ctx, post.ID)
		if err != nil {
			return err
		}
		return that(!edited.EditedAt.IsZero() && source.Text == "hello again" && len(history) == 2,
			"%q, %d versions", source.Text, len(history))
	})
	check("schedule", func(ctx context.Context) error {
		at := time.Now().Add(time.Hour).UTC()
		planned, err := me.PostStatus(ctx, &mastodon.Toot{Status: "later", ScheduledAt: &at})
		if err != nil {
			return err
		}
		return that(planned.ID != "" && planned.ScheduledParams.Text == "later", "not scheduled")
	})
	check("delete", func(ctx context.Context) error {
		made, err := me.PostStatus(ctx, &mastodon.Toot{Status: "soon gone"})
		if err != nil {
			return err
		}
		if err := me.DeleteStatus(ctx, made.ID); err != nil {
			return err
		}
		_, err = me.GetStatus(ctx, made.ID)
		return refused(404, err)
	})
	check("an empty post is refused", func(ctx context.Context) error {
		_, err := me.PostStatus(ctx, &mastodon.Toot{})
		return refused(422, err)
	})
}

func checkVisibility(ctx context.Context, visibility string) error {
	made, err := me.PostStatus(ctx, &mastodon.Toot{Status: "for " + visibility, Visibility: visibility})
	if err != nil {
		return err
	}
	_, err = other.GetStatus(ctx, made.ID)
	if visibility == mastodon.VisibilityFollowersOnly || visibility == mastodon.VisibilityDirectMessage {
		return refused(404, err)
	}
	return err
}

func checkInteractions() {
	type act func(context.Context, mastodon.ID) (*mastodon.Status, error)
	for _, pair := range []struct {
		name     string
		do, undo act
		shows    func(*mastodon.Status) any
	}{
		{"favourite", other.Favourite, other.Unfavourite, func(s *mastodon.Status) any { return s.Favourited }},
		{"bookmark", other.Bookmark, other.Unbookmark, func(s *mastodon.Status) any { return s.Bookmarked }},
	} {
		check(pair.name, func(ctx context.Context) error {
			done, err := pair.do(ctx, post.ID)
			if err != nil {
				return err
			}
			undone, err := pair.undo(ctx, post.ID)
			if err != nil {
				return err
			}
			return that(pair.shows(done) == true && pair.shows(undone) == false, "not shown at the post")
		})
	}
	check("boost", func(ctx context.Context) error {
		boost, err := other.Reblog(ctx, post.ID)
		if err != nil {
			return err
		}
		if err := until(ctx, func() (bool, error) {
			people, err := me.GetRebloggedBy(ctx, post.ID, nil)
			return len(people) == 1, err
		}); err != nil {
			return err
		}
		_, err = other.Unreblog(ctx, post.ID)
		return errors.Join(err, that(boost.Reblog.ID == post.ID, "another post"))
	})
	check("favourites and bookmarks", func(ctx context.Context) error {
		if _, err := other.Favourite(ctx, post.ID); err != nil {
			return err
		}
		if _, err := other.Bookmark(ctx, post.ID); err != nil {
			return err
		}
		favourites, err := other.GetFavourites(ctx, nil)
		if err != nil {
			return err
		}
		bookmarks, err := other.GetBookmarks(ctx, nil)
		if err != nil {
			return err
		}
		if err := has(favourites, post.ID); err != nil {
			return err
		}
		if err := has(bookmarks, post.ID); err != nil {
			return err
		}
		return until(ctx, func() (bool, error) {
			people, err := me.GetFavouritedBy(ctx, post.ID, nil)
			return len(people) == 1 && people[0].ID == theirs.ID, err
		})
	})
}

func checkPolls() {
	check("poll", func(ctx context.Context) error {
		asked, err := me.PostStatus(ctx, &mastodon.Toot{
			Status: "which?",
			Poll:   &mastodon.TootPoll{Options: []string{"this", "that"}, ExpiresInSeconds: 600},
		})
		if err != nil {
			return err
		}
		poll, err := other.PollVote(ctx, asked.Poll.ID, 1)
		if err != nil {
			return err
		}
		again, err := other.GetPoll(ctx, asked.Poll.ID)
		if err != nil {
			return err
		}
		return that(poll.Voted && again.VotesCount == 1 && again.OwnVotes[0] == 1, "%+v", again)
	})
}

func checkMedia() {
	check("photo", func(ctx context.Context) error {
		photo, err := me.UploadMediaFromBytes(ctx, picture())
		if err != nil {
			return err
		}
		shown, err := me.PostStatus(ctx, &mastodon.Toot{Status: "red", MediaIDs: []mastodon.ID{photo.ID}})
		if err != nil {
			return err
		}
		return that(len(shown.MediaAttachments) == 1 && shown.MediaAttachments[0].Type == "image", "no photo")
	})
	check("what is no photo is refused", func(ctx context.Context) error {
		_, err := me.UploadMediaFromBytes(ctx, []byte("text"))
		return refused(422, err)
	})
}
