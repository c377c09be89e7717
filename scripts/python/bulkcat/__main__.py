from bulkcat._binary import main

main()
