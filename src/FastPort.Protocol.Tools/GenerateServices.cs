using FastPort.Protocol.Tools.Contracts;
using FastPort.Protocol.Tools.Generation;
using Microsoft.Build.Framework;

namespace FastPort.Protocol.Tools;

/// <summary>
/// Generates clients and base classes from the services of <c>.proto</c> files: one C# file per <c>.proto</c> file, so that the names of
/// the outputs are known before protoc has run.
/// </summary>
public sealed class GenerateServices : ContractTask
{
    private protected override bool Run(List<Contract> contracts, MessageTypeList list, List<Problem> problems)
    {
        if (!Report(problems))
        {
            return false;
        }

        for (int i = 0; i < contracts.Count; i++)
        {
            ITaskItem item = Contracts[i];
            bool isInternal = string.Equals(item.GetMetadata("Access"), "Internal", StringComparison.OrdinalIgnoreCase);
            File.WriteAllText(item.GetMetadata("FastPortServices"), ContractWriter.Write(contracts[i], isInternal));
        }

        return true;
    }
}
