using FastPort.Client.Commands;
using FastPort.Client.Load;
using FastPort.Client.Tags;
using FastPort.Client.Top;

namespace FastPort.Client.Tests.Commands;

/// <summary>Keeps the settings of the command that was called; each command returns an exit code of its own.</summary>
internal sealed class Recorder : ICommands
{
    public LoadSettings? Load { get; private set; }

    public CompareSettings? Compare { get; private set; }

    public Task<int> LoadAsync(LoadSettings settings)
    {
        Load = settings;
        return Task.FromResult(7);
    }

    public (string Command, TagSettings Settings)? Tags { get; private set; }

    public TopSettings? Top { get; private set; }

    public Task<int> TopAsync(TopSettings settings)
    {
        Top = settings;
        return Task.FromResult(10);
    }

    public Task<int> TagsAsync(string command, TagSettings settings)
    {
        Tags = (command, settings);
        return Task.FromResult(9);
    }

    public Task<int> CompareAsync(CompareSettings settings)
    {
        Compare = settings;
        return Task.FromResult(8);
    }
}
