namespace FastPort.Tags.Tests;

/// <summary>The contract of sources, for tags in memory.</summary>
public sealed class MemorySourceContractTests : TagSourceContract
{
    protected override Task<SourceUnderTest> StartAsync() => Task.FromResult<SourceUnderTest>(new MemoryUnderTest());

    private sealed class MemoryUnderTest : SourceUnderTest
    {
        private readonly MemoryTagSource _source = PressTags.Create();

        public override ITagSource Source => _source;

        public override void Set(string name, TagValue value) => _source.Set(name, value);

        // The program says that the device is away.
        public override Task LoseAsync()
        {
            _source.IsConnected = false;
            return Task.CompletedTask;
        }

        public override Task ReturnAsync()
        {
            _source.Set("press/speed", 12.5);
            _source.IsConnected = true;
            return Task.CompletedTask;
        }

        public override ValueTask DisposeAsync() => _source.DisposeAsync();
    }
}
