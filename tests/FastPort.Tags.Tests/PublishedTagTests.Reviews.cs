using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <content>Rights that end, and publishers that go.</content>
public sealed partial class PublishedTagTests
{
    [Fact]
    public async Task However_many_tags_a_publisher_has_all_are_told_when_it_may_no_longer_or_has_gone()
    {
        const int Count = 450;
        bool isAllowed = true;
        await using var source = new PublishedTagSource(authorizer: (_, _, _, _) => Volatile.Read(ref isAllowed));
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        FastPortClient client = await ConnectAsync("client", bridge);
        await DeclareAsync(client, [.. Enumerable.Range(0, Count).Select(static i => Tag($"{i}"))]);
        Assert.Empty(source.ReviewAccess());

        Volatile.Write(ref isAllowed, false);
        Assert.Equal(Enumerable.Range(0, Count).Select(static i => $"{i}"), source.ReviewAccess().Select(static one => one.Name));
        await UntilAllAsync(TagStatus.BadNoCommunication);
        Volatile.Write(ref isAllowed, true);
        await DeclareAsync(client, [.. Enumerable.Range(0, Count).Select(static i => Tag($"{i}"))]);
        await UntilAllAsync(TagStatus.BadWaitingForInitialData);

        await client.DisposeAsync();
        await UntilAllAsync(TagStatus.BadNoCommunication);

        Task UntilAllAsync(TagStatus status) => Patience.UntilAsync(
            async () =>
            {
                var samples = new TagSamples();
                await source.ReadAsync([.. Enumerable.Range(0, Count)], samples, _limit.Token);
                return Enumerable.Range(0, Count).All(row => samples.GetStatus(row) == status);
            },
            $"all are {status}");
    }

    [Fact]
    public async Task Of_two_reviews_at_a_time_the_later_answers_count()
    {
        PublishedTagSource? source = null;
        bool isAllowed = true;
        bool isReviewed = true;
        source = new PublishedTagSource(authorizer: (_, _, _, _) =>
        {
            // This answer is given before the change and its review.
            bool answer = isAllowed;
            if (!isReviewed)
            {
                isReviewed = true;
                isAllowed = false;
                Assert.Equal("a", Assert.Single(source!.ReviewAccess()).Name);
            }

            return answer;
        });
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using FastPortClient client = await ConnectAsync("client", bridge);
        uint handle = Assert.Single((await DeclareAsync(client, Tag("a"))).Handles);
        isReviewed = false;

        Assert.Empty(source.ReviewAccess());

        var samples = new TagSamples();
        samples.Add(5);
        var push = new PushTags { Handles = { handle }, Samples = Message(samples) };
        byte[] pushed = await client.RequestAsync(TagMessageType.Push, push.ToByteArray());
        Assert.Equal([TagStatus.BadUserAccessDenied.Code], WrittenTags.Parser.ParseFrom(pushed).Statuses);
    }

    [Fact]
    public async Task An_authorizer_that_throws_for_one_tag_leaves_no_right_to_others_in_a_review()
    {
        bool isChanged = false;
        await using var source = new PublishedTagSource(authorizer: (_, _, name, _) =>
            !isChanged || (name == "a" ? throw new InvalidOperationException("The test says so.") : name == "c"));
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using FastPortClient client = await ConnectAsync("client", bridge);
        await DeclareAsync(client, Tag("a"), Tag("b"), Tag("c"));

        isChanged = true;

        Assert.Equal(["a", "b"], source.ReviewAccess().Select(static one => one.Name));
    }
}
