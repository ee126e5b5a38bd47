-- The functions of scheduled posts, for the functions of posts.

-- Whether a scheduled post of the author waits with one of these images. The transaction that
-- publishes it has ended its row before.
CREATE OR REPLACE FUNCTION scheduled_posts_hold(author bigint, wanted bigint[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM scheduled_posts_scheduledpost
        WHERE author_id = author AND media_ids && wanted AND failure <> 'published');
$$;
