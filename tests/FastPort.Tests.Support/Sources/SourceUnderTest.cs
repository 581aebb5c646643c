using FastPort.Tags;

namespace FastPort.Tests.Support;

/// <summary>
/// A source with the tags of <see cref="TagSourceContract"/>: <c>press/speed</c>, a writable Double of 12.5; <c>press/state</c>, a String
/// "idle" that cannot be written; <c>press/counts</c>, a writable array of Int32, 1 to 3. Unless it has no methods, <c>press/add</c> adds
/// two Int32.
/// </summary>
public abstract class SourceUnderTest : IAsyncDisposable
{
    public abstract ITagSource Source { get; }

    public virtual bool HasMethods => true;

    /// <summary>Whether the source is connected to one device. False if each tag has its own, and the status of its device.</summary>
    public virtual bool HasOneDevice => true;

    /// <summary>The device changes a value.</summary>
    public abstract void Set(string name, TagValue value);

    /// <summary>The device is lost.</summary>
    public abstract Task LoseAsync();

    /// <summary>The device is back, with the values of the beginning.</summary>
    public abstract Task ReturnAsync();

    public abstract ValueTask DisposeAsync();
}
