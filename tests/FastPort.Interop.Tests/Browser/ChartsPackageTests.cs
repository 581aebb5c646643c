using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.Browser;

/// <summary>The files that pages draw with are those of the npm package, which `npm ci` has checked by the hash in the lock file.</summary>
public sealed class ChartsPackageTests
{
    [NodeTheory]
    [InlineData("uPlot.iife.min.js", "dist/uPlot.iife.min.js")]
    [InlineData("uPlot.min.css", "dist/uPlot.min.css")]
    [InlineData("LICENSE", "LICENSE")]
    public async Task The_file_is_that_of_the_package(string file, string inPackage)
    {
        Assert.Null(NodeInstallation.Problem);
        string ours = Path.Combine(NodeInstallation.Directory, "..", "..", "..", "src", "Charts", "uPlot", file);
        string theirs = Path.Combine(NodeInstallation.Directory, "node_modules", "uplot", inPackage);

        Assert.Equal(await File.ReadAllBytesAsync(theirs), await File.ReadAllBytesAsync(ours));
    }
}
