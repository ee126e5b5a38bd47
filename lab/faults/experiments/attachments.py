"""What posts have besides their text: direct posts and images, while processes die."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable
from io import BytesIO

from PIL import Image

from lab.faults.cluster.process import ArmedChild
from lab.faults.cluster.with_failpoints import EXIT_CODE
from lab.faults.experiments.failpoints import begin_armed_web, kill_drainer_at
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.heal_and_drain import heal_and_drain
from lab.faults.history.calls import ClientCall
from lab.faults.history.entries import second_of
from lab.faults.load.session import Session

DRAINER_PLACES = ("conversations.recorded", "notifications.recorded") * 3
UPLOAD_PLACES = ("images.before_files", "images.before_answer")
# The leases of killed drainers last for 15 s.
DIES_WITHIN_S, RETRY_EVERY_S, MOST_TALKS = 2.0, 0.2, 30
FILES_OF_AN_IMAGE, MOST_UPLOADS = 2, 30


def _talk_while_drainers_die(scene: Scene) -> None:
    """Two accounts answer each other with direct posts, and one of them deletes some."""
    first, other = scene.load.sessions[:2]
    other.relate("follow", first.person.id)  # or direct posts wait as requests
    kept: list[ClientCall] = []

    def dies(armed: tuple[ArmedChild, str]) -> bool:
        for _ in range(MOST_TALKS):
            kept.extend(_talk(first, other))
            if armed[0].wait_for_exit(DIES_WITHIN_S):
                return True
        return False

    with scene.broken():
        killed = [kill_drainer_at(scene, *at, dies) for at in enumerate(DRAINER_PLACES)]
    heal_and_drain(scene.cluster)
    scene.note(f"a drainer died {sum(killed)} times; {len(kept)} direct posts stayed")
    scene.check_happened(all(killed), "each place was reached", killed)
    scene.check(all(call.made for call in kept), "each direct post is answered")
    for reader, writer in ((first, other), (other, first)):
        _check_conversations(scene, reader, kept)
        made = [str(call.made) for call in kept if call.account == writer.person.id]
        _check_mentions(scene, reader, sorted(made))


def _talk(first: Session, other: Session) -> Iterable[ClientCall]:
    """The posts that stay: a question, and an answer. A later one is deleted."""
    question = first.write_to(other.person)
    answer = other.write_to(first.person, question.made)
    gone = first.write_to(other.person, question.made).made
    if gone is not None:
        first.delete(gone)
    return question, answer


def _check_conversations(scene: Scene, reader: Session, kept: Iterable[ClientCall]) -> None:
    """Posts of one second are in the order of their arrival, and a killed drainer delivers late: so
    the last one of a conversation is any of its newest second."""
    posts: dict[int, list[int]] = defaultdict(list)
    for call in kept:
        posts[call.target or call.made or 0].append(call.made or 0)
    shown = reader.read("/api/v1/conversations")
    last = {
        int(conversation["id"]): int(conversation["last_status"]["id"]) for conversation in shown
    }
    wrong = {
        thread: (last.get(thread), posts.get(thread))
        for thread in last.keys() | posts.keys()
        if last.get(thread) not in _of_newest_second(posts.get(thread, []))
    }
    scene.check(not wrong, "conversations are the live direct posts", wrong)


def _of_newest_second(posts: Collection[int]) -> list[int]:
    newest = max(map(second_of, posts), default=0)
    return [post for post in posts if second_of(post) == newest]


def _check_mentions(scene: Scene, reader: Session, made: list[str]) -> None:
    shown = reader.read("/api/v1/notifications")
    notified = sorted(
        notification["status"]["id"] for notification in shown if notification["type"] == "mention"
    )
    scene.check(notified == made, "each direct post is notified once", _differ(notified, made))


def _differ(actual: object, expected: object) -> str:
    return "" if actual == expected else f"{actual}, not {expected}"


def _upload_while_webs_die(scene: Scene) -> None:
    """Uploads without an answer leave no file, once their time is over and the job has run."""
    posts = []
    with scene.broken():
        for number, place in enumerate(UPLOAD_PLACES):
            begin_armed_web(scene, place)
            session = scene.load.sessions[2 * number]  # web0 is the web of even clients
            scene.check_happened(_loses_upload(session), f"a web died at {place}")
            posts.append(session.post_image(_upload_until_answered(session)))
    scene.check(all(call.made for call in posts), "the second upload can be posted")
    scene.cluster.backstage.ask({"do": "spoil", "with": "images"})
    died = scene.cluster.attempt(
        "purge", "unused-images", armed={"images.files_deleted": {"do": "exit"}}
    )
    scene.check(died.returncode == EXIT_CODE, "the job died", died.stderr[-400:])
    again = scene.cluster.attempt("purge", "unused-images")
    scene.check(again.returncode == 0, "the job ends its work", again.stderr[-400:])
    left = len(scene.cluster.list_files())
    expected = FILES_OF_AN_IMAGE * len(UPLOAD_PLACES)
    scene.check(left == expected, "the files of posts stay, and no other", left)


def _loses_upload(session: Session) -> bool:
    """Another web takes uploads until the balancer has seen that the armed one is ready."""
    for _ in range(MOST_UPLOADS):
        if session.upload(_picture()) is None:
            return True
        time.sleep(RETRY_EVERY_S)
    return False


def _upload_until_answered(session: Session) -> int:
    """The server starts a new process for the one that died."""
    while (image := session.upload(_picture())) is None:
        time.sleep(RETRY_EVERY_S)
    return image


def _picture() -> bytes:
    stream = BytesIO()
    Image.effect_noise((640, 480), 50).save(stream, "PNG")
    return stream.getvalue()


ATTACHMENTS = [
    Experiment("F1c", "a drainer dies while it records direct posts", _talk_while_drainers_die),
    Experiment(
        "F2b", "a web dies during an upload, a job while it deletes", _upload_while_webs_die
    ),
]
