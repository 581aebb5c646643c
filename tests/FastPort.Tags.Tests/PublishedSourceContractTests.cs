namespace FastPort.Tags.Tests;

/// <summary>The contract of sources, for tags that a session publishes. The device is the session.</summary>
public sealed class PublishedSourceContractTests : TagSourceContract
{
    protected override async Task<SourceUnderTest> StartAsync()
    {
        var source = new PublishedTagSource();
        var tested = new PublishedUnderTest(source, await TagBridge.StartAsync(source));
        await tested.ReturnAsync();
        return tested;
    }

    private sealed class PublishedUnderTest(PublishedTagSource source, TagBridge bridge) : SourceUnderTest
    {
        private MemoryTagSource _press = null!;
        private TagClient? _publisher;

        public override ITagSource Source => source;

        public override bool HasMethods => false;

        public override bool HasOneDevice => false;

        public override void Set(string name, TagValue value) => _press.Set(name, value);

        public override async Task LoseAsync() => await _publisher!.DisposeAsync();

        public override async Task ReturnAsync()
        {
            _press = PressTags.Create();
            _publisher = await bridge.ConnectAsync("press");
            await _publisher.PublishAsync(_press);
            var tags = new TagInfo?[1];
            await source.ResolveAsync(["press/counts"], tags, Patience.Token);
            var samples = new TagSamples();
            await Patience.UntilAsync(
                async () =>
                {
                    samples.Clear();
                    return (await source.ReadAsync([tags[0]!.Tag], samples, Patience.Token)).IsGood && samples.GetStatus(0).IsGood;
                },
                "the values are published");
        }

        public override async ValueTask DisposeAsync()
        {
            await _publisher!.DisposeAsync();
            await bridge.DisposeAsync();
            await source.DisposeAsync();
        }
    }
}
